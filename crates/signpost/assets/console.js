// @ts-check
// The console works without this script. It updates the counts in the menu, adds keyboard shortcuts for reports, and copies
// the token of a set-up link from the fragment into its form.

/** Polling interval of the counts, while the page is visible. */
const COUNTS_MS = 10_000;

const setup = document.querySelector('form#setup');
const link = document.getElementById('link');
if (setup instanceof HTMLFormElement && link instanceof HTMLInputElement && location.hash.length > 1) {
  link.value = location.hash.slice(1);
  // The token works once, but it must not stay in the address bar or the history.
  history.replaceState(null, '', location.pathname);
  setup.requestSubmit();
}

const counts = document.querySelector('[data-counts]');

async function refresh() {
  if (document.hidden || !(counts instanceof HTMLElement)) return;
  try {
    const reply = await fetch(counts.dataset.counts ?? '', { signal: AbortSignal.timeout(COUNTS_MS) });
    if (!reply.ok) return;
    const told = await reply.json();
    for (const badge of document.querySelectorAll('[data-count]')) {
      const count = badge instanceof HTMLElement ? told[badge.dataset.count ?? ''] : undefined;
      if (typeof count !== 'number') continue;
      badge.textContent = String(count);
      badge.toggleAttribute('hidden', count === 0);
    }
  } catch {
    // The next poll tries again.
  }
}

if (counts) {
  setInterval(refresh, COUNTS_MS);
  document.addEventListener('visibilitychange', refresh);
}

/** Returns the button of the focused report, or of the first report. @param {string} key */
function buttonOf(key) {
  const within = document.activeElement?.closest('.reports > li') ?? document.querySelector('.reports > li');
  return within?.querySelector(`button[data-key="${key}"]`);
}

document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, select, textarea');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !/^[ars]$/.test(event.key)) return;
  const button = buttonOf(event.key);
  if (button instanceof HTMLButtonElement) button.click();
});
