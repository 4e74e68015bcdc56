// @ts-check
// The wallet's screens and the transitions between them.

import { lookForCode } from './camera.js';
import { readCode } from './code.js';
import { Refused, answer, askAbout, isOurs } from './handler.js';
import { publicKeyOf, sign, toRoot, toSecret } from './keys.js';
import { blame, day, duration, fill, main, part, say, show, text } from './screens.js';
import { allSites, deleteWords, findSite, findUnsavedWords, forgetAll, keepRoot, lookForWallet, rememberSite, withRoot } from './vault.js';
import { WORD_COUNT, WrongWords, drawWords, readWords, toSeed } from './words.js';

/** Number of words that the user must repeat. */
const CHECKED_WORDS = 3;

const handlers = (main.dataset.handlers ?? '').split(' ');
const host = main.dataset.host ?? '';

/** @typedef {import('./code.js').Code} Code @typedef {import('./handler.js').Context} Context */

/** The code that was opened and not yet handled. @type {{ text: string, isFollowed: boolean } | null} */
let opened = null;
/** The request that waits for the user's decision. @type {{ code: Code, context: Context } | null} */
let asked = null;
/** The words on the screen, until the user has repeated some of them. @type {string[]} */
let drawn = [];
/** Whether this page has asked the user to save the words. */
let hasAskedToSave = false;
/** Positions of the words to repeat, from 0. @type {number[]} */
let positions = [];
/** Stops the camera. */
let camera = new AbortController();

/** Shows the first screen, also after a wallet was created: the pending code, or the home screen. */
async function begin() {
  camera.abort();
  asked = null;
  forgetWords();
  const found = await lookForWallet();
  const isUnsaved = found === 'whole' && (await findUnsavedWords()) !== null;
  for (const notice of main.querySelectorAll('[data-unsaved]')) notice.toggleAttribute('hidden', !isUnsaved);
  if (found === 'whole' && opened) return isUnsaved && (await mustAskToSave(opened.text)) ? showWords() : decide(opened.text);
  if (found === 'whole') return home();
  part('lost').hidden = found !== 'lost';
  part('waits').hidden = opened === null;
  show('start');
}

/** Removes the words from the page when the user leaves their screens, in any way. */
function forgetWords() {
  drawn = [];
  part('words').replaceChildren();
  part('restored', HTMLTextAreaElement).value = '';
  blame('restored', null);
  for (let at = 0; at < CHECKED_WORDS; at += 1) part(`word-${at}`, HTMLInputElement).value = '';
}

function home() {
  opened = null;
  part('pasted', HTMLInputElement).value = '';
  blame('pasted', null);
  show('home');
}

/* Creating and restoring a wallet */

/** Creates a wallet. The user saves its words later. */
async function make() {
  const words = await drawWords();
  await keep(words, words);
}

/** Returns whether the user must be asked to save the words before an answer: after the first live login. @param {string} read */
async function mustAskToSave(read) {
  const isSandbox = readCode(read)?.webhook.pathname.startsWith('/sandbox/') ?? true;
  if (isSandbox || hasAskedToSave || (await allSites()).length === 0) return false;
  hasAskedToSave = true;
  return true;
}

async function showWords() {
  drawn = (await findUnsavedWords()) ?? [];
  if (drawn.length === 0) return begin();
  part('words').replaceChildren(...drawn.map(item));
  show('words');
}

/** @param {string} word */
function item(word) {
  const made = document.createElement('li');
  made.textContent = word;
  made.translate = false;
  return made;
}

/** Asks for some of the words, so that every user has recorded them. */
function check() {
  const all = Array.from({ length: WORD_COUNT }, (_, at) => at);
  const draws = crypto.getRandomValues(new Uint32Array(WORD_COUNT));
  positions = all.sort((one, other) => draws[one] - draws[other]).slice(0, CHECKED_WORDS).sort((one, other) => one - other);
  positions.forEach((position, at) => {
    const field = part(`word-${at}`, HTMLInputElement);
    field.value = '';
    blame(field.id, null);
    fill(/** @type {Element} */ (field.closest('.field')), { position: String(position + 1) });
  });
  show('check');
}

/** @param {SubmitEvent} event */
async function checked(event) {
  event.preventDefault();
  const fields = positions.map((_, at) => part(`word-${at}`, HTMLInputElement));
  const isRight = (/** @type {HTMLInputElement} */ field, /** @type {number} */ at) => field.value.trim().toLowerCase() === drawn[positions[at]];
  // The last field with an error gets the focus, so the fields are checked in reverse.
  for (const [at, field] of [...fields.entries()].reverse()) {
    blame(field.id, isRight(field, at) ? null : text('other-word', { position: String(positions[at] + 1) }));
  }
  if (!fields.every(isRight)) return;
  await deleteWords();
  await begin();
}

/** @param {SubmitEvent} event */
async function restored(event) {
  event.preventDefault();
  const field = part('restored', HTMLTextAreaElement);
  try {
    const words = await readWords(field.value);
    blame(field.id, null);
    field.value = '';
    await keep(words, null);
  } catch (error) {
    if (!(error instanceof WrongWords)) throw error;
    blame(field.id, wrongWords(error));
  }
}

/** @param {WrongWords} error */
function wrongWords({ reason, more }) {
  const { position = 0, word = '', meant, count = 0 } = more;
  if (reason === 'count') return text('count', { count: String(count) });
  if (reason === 'checksum') return text('checksum');
  return text(meant ? 'unknown-meant' : 'unknown', { position: String(position), word, meant: meant ?? '' });
}

/** Stores the wallet of these words. @param {string[]} words @param {string[] | null} unsaved */
async function keep(words, unsaved) {
  await keepRoot(await toRoot(await toSeed(words)), unsaved);
  await begin();
}

/* Codes */

/** Shows a code's request to the user, or the reason for its rejection. @param {string} read */
async function decide(read) {
  const code = readCode(read);
  if (!code) return end('unreadable');
  const { domain, mode } = code;
  if (!isOurs(code, handlers)) return end(isLiveHere(code) ? 'sandbox' : 'foreign', { domain, there: code.webhook.host });
  show('asking', { domain });
  try {
    const context = await askAbout(code);
    asked = { code, context };
    const [site, publicKey] = await Promise.all([findSite(domain), withRoot(async (root) => publicKeyOf(await toSecret(root, domain)))]);
    const confirm = /** @type {HTMLElement} */ (main.querySelector('[data-screen="confirm"]'));
    for (const one of confirm.querySelectorAll('[data-for]')) one.toggleAttribute('hidden', one.getAttribute('data-for') !== mode);
    part('proven').hidden = !context.verified;
    part('unproven').hidden = context.verified;
    part('number-field').hidden = !context.number;
    part('number', HTMLInputElement).value = '';
    blame('number', null);
    part('key-known').hidden = site === undefined;
    part('key-new').hidden = site !== undefined;
    const from = browserOf(context.requester?.user_agent ?? '');
    for (const fact of confirm.querySelectorAll('[data-fact="from"]')) fact.toggleAttribute('hidden', from === '');
    busy(false);
    showText();
    show('confirm', { domain, there: code.webhook.host, end: publicKey.slice(-8), since: site ? day(site.first) : '', from });
    tick();
  } catch (error) {
    fail(error);
  }
}

/** Returns whether the code is of the server's live environment, for which this wallet is not offered. @param {Code} code */
const isLiveHere = (code) => isOurs(code, handlers.map((handler) => handler.replace('/sandbox/', '/')));

/** Shows the text to sign. */
function showText() {
  if (!asked) return;
  const { code, context } = asked;
  const [, mode, domain, time, nonce] = code.challenge.split(':');
  const through = code.namesHost ? ` through ${code.webhook.host}` : '';
  const number = code.namesHost && context.number ? ` with ${part('number', HTMLInputElement).value || '··'}` : '';
  part('signed').textContent = `Sign this to ${mode} to ${domain} at ${time}:${nonce}${through}${number}`;
}

/** @param {SubmitEvent} event */
async function agree(event) {
  event.preventDefault();
  if (!asked || main.getAttribute('aria-busy') === 'true') return;
  const { code, context } = asked;
  const typed = part('number', HTMLInputElement).value.trim();
  if (context.number && !/^[0-9]{2}$/.test(typed)) return blame('number', text('two-digits'));
  blame('number', null);
  busy(true);
  try {
    let publicKey = '';
    await answer(code, context.number ? typed : null, (signed) => withRoot(async (root) => {
      const secret = await toSecret(root, code.domain);
      publicKey = publicKeyOf(secret);
      const signature = await sign(signed, secret);
      secret.fill(0);
      return { publicKey, signature };
    }));
    await rememberSite(code.domain, publicKey);
    succeed(code, context);
  } catch (error) {
    busy(false);
    if (error instanceof Refused && error.outcome.name === 'number') return blame('number', text('other-number'));
    fail(error);
  }
}

/** @param {Code} code @param {Context} context */
function succeed({ mode, domain }, context) {
  const isFollowed = opened?.isFollowed ?? false;
  end(`done-${mode}`, { domain });
  // Without a number, the page with the code is in this browser: the browser returns to it if it was left.
  if (isFollowed && !context.number && history.length > 1) history.back();
}

/** @param {unknown} error */
function fail(error) {
  const { name, seconds = 0 } = error instanceof Refused ? error.outcome : { name: isStorage(error) ? 'full' : 'broken' };
  const domain = readCode(opened?.text ?? '')?.domain ?? '';
  const told = name === 'clock' ? `clock-${seconds < 0 ? 'behind' : 'ahead'}` : name;
  end(told, { domain, amount: duration(seconds) });
  if (!(error instanceof Refused)) console.error(error);
}

/** Returns whether the browser's storage is unavailable to this page. @param {unknown} error */
const isStorage = (error) => error instanceof DOMException && ['QuotaExceededError', 'InvalidStateError', 'SecurityError'].includes(error.name);

/** Shows a final screen. @param {string} name of a text @param {import('./screens.js').Places} [places] */
function end(name, places = {}) {
  part('outcome').replaceChildren(text(name, { host, ...places }));
  part('return').hidden = !(opened?.isFollowed && history.length > 1);
  part('again').hidden = name !== 'away';
  asked = name === 'away' ? asked : null;
  show('outcome');
  main.dataset.outcome = name;
}

/** @param {boolean} is */
function busy(is) {
  main.setAttribute('aria-busy', String(is));
  for (const button of main.querySelectorAll('[data-busy]')) {
    button.setAttribute('aria-disabled', String(is));
    for (const words of button.children) words.toggleAttribute('hidden', words.hasAttribute('data-when-busy') !== is);
  }
}

/** Updates the countdown of the code on the screen. */
function tick() {
  if (!asked || main.dataset.state !== 'confirm') return;
  const left = Math.max(0, Math.ceil(asked.code.expiresAt - Date.now() / 1000));
  part('ends').textContent = `${left} s`;
  if (left === 0 && main.getAttribute('aria-busy') !== 'true') end('gone');
}

/** Returns the browser and the system of a `User-Agent`. @param {string} agent */
function browserOf(agent) {
  const first = (/** @type {[string, string][]} */ table) => table.find(([mark]) => agent.includes(mark))?.[1];
  const browser = first([['Edg', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['FxiOS/', 'Firefox'], ['CriOS/', 'Chrome'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']]);
  const system = first([['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Android', 'Android'], ['CrOS', 'ChromeOS'], ['Windows', 'Windows'], ['Macintosh', 'macOS'], ['Linux', 'Linux']]);
  return browser ? [browser, system].filter(Boolean).join(' · ') : agent.slice(0, 40);
}

/* Camera and pasted texts */

async function scan() {
  camera = new AbortController();
  const { signal } = camera;
  show('scan');
  try {
    await lookForCode(part('video', HTMLVideoElement), signal, (read) => {
      const isCode = readCode(read) !== null;
      if (!isCode) say(text('unreadable').textContent ?? '');
      if (isCode) open(read, false);
      return isCode;
    });
  } catch {
    if (!signal.aborted) end('no-camera');
  }
}

/** @param {SubmitEvent} event */
function paste(event) {
  event.preventDefault();
  const { value } = part('pasted', HTMLInputElement);
  if (!readCode(value)) return blame('pasted', text('not-pasted'));
  open(value, false);
}

/** @param {string} read @param {boolean} isFollowed whether a link opened it */
function open(read, isFollowed) {
  opened = { text: read, isFollowed };
  begin().catch(fail);
}

/** Removes a code after the `#` from the address, so that it is not opened again by accident. */
function openAddress() {
  const read = location.hash.slice(1);
  if (!/^svc(:|%3a)/i.test(read)) return false;
  history.replaceState(null, '', location.pathname + location.search);
  open(read, true);
  return true;
}

/* Keys and settings */

async function keys() {
  const sites = await allSites();
  part('no-sites').hidden = sites.length > 0;
  part('sites').replaceChildren(...sites.map(({ domain, publicKey, first, last }) => (
    text('site', { domain, end: publicKey.slice(-8), first: day(first), last: day(last) })
  )));
  show('keys');
}

async function erase() {
  await forgetAll();
  opened = null;
  await begin();
}

/** @param {string} id @param {() => unknown} what */
function press(id, what) {
  part(id).addEventListener('click', () => Promise.resolve().then(what).catch(fail));
}

/** @param {string} id @param {(event: SubmitEvent) => unknown} what */
function submit(id, what) {
  part(id).addEventListener('submit', (event) => Promise.resolve(what(/** @type {SubmitEvent} */ (event))).catch(fail));
}

function start() {
  if (!globalThis.crypto?.subtle || !globalThis.indexedDB) return show('insecure');
  press('make', make);
  press('restore', () => show('restore'));
  for (const button of document.querySelectorAll('[data-save]')) button.addEventListener('click', () => showWords().catch(fail));
  press('written', check);
  press('words-again', () => show('words'));
  press('scan', scan);
  press('stop', () => end('stopped'));
  press('again', () => (opened ? decide(opened.text) : home()));
  press('return', () => history.back());
  press('keys', keys);
  press('settings', () => show('settings'));
  press('erase', () => show('erase'));
  press('erase-now', erase);
  for (const button of document.querySelectorAll('[data-home]')) button.addEventListener('click', () => begin().catch(fail));
  for (const button of document.querySelectorAll('[data-drop]')) {
    button.addEventListener('click', () => {
      opened = null;
      begin().catch(fail);
    });
  }
  submit('check-form', checked);
  submit('restore-form', restored);
  submit('paste-form', paste);
  submit('answer-form', agree);
  part('number').addEventListener('input', showText);
  addEventListener('hashchange', openAddress);
  setInterval(tick, 1000);
  if (!openAddress()) begin().catch(fail);
  const { worker, scope } = main.dataset;
  if (worker && 'serviceWorker' in navigator) navigator.serviceWorker.register(worker, { scope }).catch(() => undefined);
}

start();
