// @ts-check
// Updates the login page as its session changes: a new code, an error or the end of the login. Without this script, the
// page works by reloading.

/** Polling interval after a broken stream. */
const POLL_MS = 2000;
/** Timeout of a request. */
const ANSWER_MS = 10_000;
/** Delay of the next attempt if there was no response. */
const RETRY_SECONDS = 5;
/** Lifetime of a passkey offer: the site waits a minute longer. */
const OFFER_MS = 4 * 60_000;
/** Seconds at which a screen reader announces the countdown. */
const SAID_ALOUD = [30, 10];

/** Time in which a phone opens the application of a link. */
const OPENING_MS = 1500;
/** The key of the method that was used last in this browser. */
const LAST_METHOD = 'signpost-login-method';
/** The ID of a control → its method. */
const METHODS = { 'use-passkey': 'passkey', 'use-wallet': 'browser', 'open-wallet': 'scan', 'open-lightning': 'lightning' };

const page = location.pathname;
const main = /** @type {HTMLElement} */ (document.getElementById('main'));

/** @type {EventSource | null} */
let stream = null;
/** @type {number | undefined} */
let timer;
/** @type {number | undefined} */
let offered;
/** The URL that the browser is navigating to: a second navigation would send the code twice. */
let goesTo = '';
/** Whether a form is being submitted: its target continues the login. */
let isSending = false;
/** The end of the countdown, by the monotonic clock. */
let ends = 0;
/** The state of the page when the server stopped responding. @type {string | null} */
let stateBefore = null;
let retryIn = RETRY_SECONDS;
/** Whether the session was polled after the code on the page expired. */
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

/** Shows one way on a phone, and the rest behind a button: the passkey, or the browser wallet if it was used last. */
function arrange() {
  const root = document.documentElement.classList;
  const [passkey, wallet] = [root.contains('has-passkeys') ? part('use-passkey') : null, part('use-wallet')];
  const last = lastMethod();
  const primary = last === 'browser' && wallet ? wallet : (passkey ?? wallet);
  for (const way of [passkey, wallet]) way?.classList.toggle('primary', way === primary);
  root.toggle('one-way', primary !== null && part('other-ways') !== null);
  // A user who logged in with a wallet on this phone finds it again.
  if (last === 'scan' || last === 'lightning') root.add('all-ways');
}

function lastMethod() {
  try {
    return localStorage.getItem(LAST_METHOD);
  } catch {
    return null;
  }
}

/** Stores the method that the user chose in this tab, which it may leave for the wallet. @param {string} method */
function chooseMethod(method) {
  try {
    sessionStorage.setItem(LAST_METHOD, method);
  } catch {
    // Without storage, the page begins with the same way each time.
  }
}

/** Stores the method of a completed login, for the next page. */
function rememberMethod() {
  try {
    const chosen = sessionStorage.getItem(LAST_METHOD);
    if (chosen) localStorage.setItem(LAST_METHOD, chosen);
  } catch {
    // As above.
  }
}

/** Tells the user if no application opened a link: then the page stays visible. @param {Element} link */
function expectOpening(link) {
  setTimeout(() => {
    const notice = link.closest('div')?.querySelector('.unopened');
    if (document.hidden || !link.isConnected || !(notice instanceof HTMLElement)) return;
    notice.hidden = false;
    say(notice.querySelector('h2')?.textContent ?? '');
  }, OPENING_MS);
}

/** Opens the stream, if the login is pending and the page is visible: a browser allows six connections for all tabs. */
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

/** Polls the session once. */
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

/** Loads the current page; concurrent calls share one request. */
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

/** Replaces the content, but not the choice, the focus and the live region. @param {HTMLElement} next */
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

/** Returns the challenge on the page, to distinguish codes. */
function code() {
  return ['code', 'wallet-code', 'lightning-code'].map((id) => part(id)?.getAttribute('href')).join();
}

/** Initializes content that was just replaced. */
function begin() {
  askedAtZero = false;
  if ('last' in main.dataset) unfollow();
  count(Number(part('expires')?.dataset.left ?? 0));
  part('try-now')?.addEventListener('click', look);
  document.dispatchEvent(new Event('signpost:page'));
  if (main.dataset.state === 'done') rememberMethod();
  else arrange();
  goOn();
  clearTimeout(offered);
  if (part('passkey-offer')) offered = setTimeout(declineForNow, OFFER_MS);
}

/** Declines the passkey offer if it was not answered, or if the device cannot create a passkey. */
function declineForNow() {
  part('passkey-offer')?.remove();
  goOn();
}

/** Returns to the site, in the visible tab only: the code works once. */
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

/** Updates the countdown, which stops while the server does not respond. */
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

/** Removes expired codes, so that they are not scanned. */
function emptyCodes() {
  for (const card of document.querySelectorAll('.qr')) {
    card.replaceChildren();
    card.removeAttribute('href');
  }
}

/** Shows that the server does not respond, and tries again. */
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

/** Polls at once when the page is visible again: phones suspend it while the wallet is open. */
function wake() {
  goesTo = '';
  isSending = false;
  if (document.hidden) unfollow();
  else if (main.dataset.version) look();
}

document.addEventListener('visibilitychange', wake);
document.addEventListener('click', (event) => {
  const control = event.target instanceof Element ? event.target.closest('a, button') : null;
  if (control?.id === 'other-ways') {
    document.documentElement.classList.add('all-ways');
    part('methods')?.focus();
  }
  const method = METHODS[/** @type {keyof typeof METHODS} */ (control?.id)];
  if (!control || !method) return;
  chooseMethod(method);
  if (control.id.startsWith('open-')) expectOpening(control);
});
document.addEventListener('signpost:passkeys', arrange);
// The response to a form and the stream may both report the end of the login: the code must be sent only once.
document.addEventListener('submit', (event) => {
  isSending = !event.defaultPrevented;
});
// The passkey script has sent an answer, and waits for the updated page.
document.addEventListener('signpost:look', (event) => look().finally(/** @type {CustomEvent} */ (event).detail));
document.addEventListener('signpost:go-on', declineForNow);
addEventListener('pageshow', (event) => {
  if (event.persisted) wake();
});
setInterval(tick, 1000);
begin();
follow();
