// @ts-check
// The login page follows its session: a new code, a refusal or the end of the login is on the page at once. All of it works
// without this script too, by a page that is loaded again and again.

/** How long after a broken stream the page asks by itself. */
const POLL_MS = 2000;
/** How long one question may take. */
const ANSWER_MS = 10_000;
/** How long a page waits that got no answer at all. */
const RETRY_SECONDS = 5;
/** How long the browser stays for an offer: the site waits a minute longer. */
const OFFER_MS = 4 * 60_000;
/** At how many seconds the countdown is said aloud. */
const SAID_ALOUD = [30, 10];

const page = location.pathname;
const main = /** @type {HTMLElement} */ (document.getElementById('main'));

/** @type {EventSource | null} */
let stream = null;
/** @type {number | undefined} */
let timer;
/** @type {number | undefined} */
let offered;
/** Where the browser goes already: asked twice, it would bring the code twice. */
let goesTo = '';
/** Whether a form takes the browser away: what it leads to goes on by itself. */
let isSending = false;
/** When the countdown is at zero, by the clock that nobody sets. */
let ends = 0;
/** The state that the page was in when the server stopped answering. @type {string | null} */
let stateBefore = null;
let retryIn = RETRY_SECONDS;
/** Whether the end of the code on the page was asked about. */
let askedAtZero = false;
/** @type {Promise<void> | null} */
let loading = null;

/** @param {string} id */
const part = (id) => document.getElementById(id);

/** @param {string | undefined} text */
function say(text) {
  const live = part('live');
  if (live && text) live.textContent = text;
}

/** @param {() => void} what @param {number} ms */
function later(what, ms) {
  clearTimeout(timer);
  timer = setTimeout(what, ms);
}

function unfollow() {
  stream?.close();
  stream = null;
}

/** Opens the stream, where there is anything left to be told and somebody looks: a browser has six for all its tabs. */
function follow() {
  unfollow();
  if ('last' in main.dataset || document.hidden) return;
  stream = new EventSource(`${page}/events`);
  stream.addEventListener('state', (event) => {
    isBack();
    see(JSON.parse(event.data)).catch(isAway);
  });
  stream.onerror = () => {
    unfollow();
    later(look, POLL_MS);
  };
}

/** Asks once where the login stands. */
async function look() {
  clearTimeout(timer);
  try {
    const reply = await ask(`${page}/state`, 'application/json');
    if (reply.ok) await see(await reply.json());
    else await load();
    isBack();
    if (!stream) follow();
  } catch {
    isAway();
  }
}

/** @param {string} address @param {string} accept */
async function ask(address, accept) {
  const reply = await fetch(address, { headers: { accept }, signal: AbortSignal.timeout(ANSWER_MS) });
  if (reply.status === 429 || reply.status >= 500) throw new Error(`status ${reply.status}`);
  return reply;
}

/** @param {{ state: string, version: string, left: number }} told */
async function see(told) {
  if (told.version === main.dataset.version) {
    count(told.left);
    goOn();
    return;
  }
  if (told.state === 'done' && main.dataset.state !== 'done') {
    main.dataset.state = 'answered';
    const waits = part('waits');
    if (waits) waits.textContent = main.dataset.answered ?? '';
    say(main.dataset.answered);
  }
  await load();
}

/** Brings the page as it is now; who asks while it comes waits for the same one. */
function load() {
  loading ??= bring().finally(() => {
    loading = null;
  });
  return loading;
}

async function bring() {
  const reply = await ask(location.href, 'text/html');
  const fresh = new DOMParser().parseFromString(await reply.text(), 'text/html');
  const next = fresh.getElementById('main');
  if (!next) throw new Error('no page');
  replace(next);
  document.title = fresh.title;
}

/** Puts the fresh content in place, and leaves choice, focus and the live region as they were. @param {HTMLElement} next */
function replace(next) {
  const [chosen, focused] = [document.querySelector('.switch :checked')?.id, document.activeElement];
  const isWithin = focused !== main && main.contains(focused);
  const unfolded = [...main.querySelectorAll('details[open]')].map((details) => details.id);
  const [stateWas, codeWas, live] = [main.dataset.state, code(), part('live')];
  for (const { name } of [...main.attributes]) main.removeAttribute(name);
  for (const { name, value } of [...next.attributes]) main.setAttribute(name, value);
  next.querySelector('#live')?.remove();
  main.replaceChildren(...(live ? [live] : []), ...next.childNodes);
  const choice = chosen && part(chosen);
  if (choice instanceof HTMLInputElement) choice.checked = true;
  for (const id of unfolded) part(id)?.setAttribute('open', '');
  if (isWithin && focused) (part(focused.id) ?? main).focus({ preventScroll: true });
  stateBefore = null;
  const isNewCode = main.dataset.state === 'waiting' && stateWas !== 'away' && codeWas !== code();
  say(isNewCode ? main.dataset.newCode : main.dataset.says);
  begin();
}

/** What the page asks a wallet to sign, to tell one code from the next. */
function code() {
  return ['code', 'wallet-code', 'lightning-code'].map((id) => part(id)?.getAttribute('href')).join();
}

/** What a page needs that was just put in place. */
function begin() {
  askedAtZero = false;
  if ('last' in main.dataset) unfollow();
  count(Number(part('expires')?.dataset.left ?? 0));
  part('try-now')?.addEventListener('click', look);
  document.dispatchEvent(new Event('signpost:page'));
  goOn();
  clearTimeout(offered);
  if (part('passkey-offer')) offered = setTimeout(declineForNow, OFFER_MS);
}

/** Nobody says yes or no to the offer of a passkey, or the device makes none. */
function declineForNow() {
  part('passkey-offer')?.remove();
  goOn();
}

/** Back to the site, in the one tab that the person looks at: the code works once. */
function goOn() {
  if (isSending || part('passkey-offer')) return;
  const onward = part('continue');
  if (!(onward instanceof HTMLAnchorElement) || document.hidden || onward.href === goesTo) return;
  goesTo = onward.href;
  location.replace(goesTo);
}

/** @param {number} left */
function count(left) {
  ends = performance.now() + left * 1000;
  tick();
}

/** One step of the countdown; it stands still while the server does not answer. */
function tick() {
  const [time, ring] = [part('expires'), part('ring')];
  if (!time) return;
  const left = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
  const grace = Number(time.dataset.grace ?? 0);
  if (performance.now() > ends + grace * 1000) emptyCodes();
  if (stateBefore !== null) return;
  time.textContent = `${left} s`;
  ring?.setAttribute('stroke-dasharray', `${left} ${ring.getAttribute('pathLength')}`);
  if (!time.hidden && SAID_ALOUD.includes(left)) say(`${left} ${main.dataset.secondsLeft}`);
  if (left === 0 && !askedAtZero) {
    askedAtZero = true;
    look();
  }
}

/** Nobody scans a dead code: it is gone, not grey. */
function emptyCodes() {
  for (const card of document.querySelectorAll('.qr')) {
    card.replaceChildren();
    card.removeAttribute('href');
  }
}

/** The server does not answer: says so, and asks again. */
function isAway() {
  unfollow();
  if (stateBefore === null) {
    stateBefore = main.dataset.state ?? '';
    main.dataset.state = 'away';
    say(part('away')?.querySelector('h2')?.textContent ?? '');
  }
  part('away')?.removeAttribute('hidden');
  retryIn = RETRY_SECONDS;
  waitForIt();
}

function waitForIt() {
  const seconds = part('away-seconds');
  if (seconds) seconds.textContent = String(retryIn);
  retryIn -= 1;
  later(retryIn < 0 ? look : waitForIt, 1000);
}

function isBack() {
  if (stateBefore === null) return;
  clearTimeout(timer);
  main.dataset.state = stateBefore;
  stateBefore = null;
  part('away')?.setAttribute('hidden', '');
  say(main.dataset.says);
}

/** A phone stops the page while the wallet is open: whoever comes back sees at once what happened. */
function wake() {
  goesTo = '';
  isSending = false;
  if (document.hidden) unfollow();
  else if (main.dataset.version) look();
}

document.addEventListener('visibilitychange', wake);
// The answer to a form and the stream may both say that the login is done: followed twice, the code would be brought twice.
document.addEventListener('submit', (event) => {
  isSending = !event.defaultPrevented;
});
// The script for passkeys has shown the server something, and waits for what the page says to it.
document.addEventListener('signpost:look', (event) => look().finally(/** @type {CustomEvent} */ (event).detail));
document.addEventListener('signpost:go-on', declineForNow);
addEventListener('pageshow', (event) => {
  if (event.persisted) wake();
});
setInterval(tick, 1000);
begin();
follow();
