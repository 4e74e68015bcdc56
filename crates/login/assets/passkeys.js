// @ts-check
// Passkeys on the login page: the button, the autofill field, and the offer of a new passkey. `login.js` replaces the page,
// and dispatches an event each time.

/** Default timeout of the device and its user; the server may set another. */
const ANSWER_MS = 10_000;

/** @typedef {{ ceremony: 'get' | 'create', publicKey: any }} Options */

const credentials = navigator.credentials;
const api = /** @type {any} */ (globalThis.PublicKeyCredential);
/** The pending request of the field, for as long as its code is on the page. @type {AbortController | null} */
let waiting = null;
/** Whether the device is prompting the user. */
let isAsking = false;
/** The code that the field's request is for. */
let armedFor = '';

/** @param {string} id */
const part = (id) => document.getElementById(id);
/** @returns {HTMLElement | null} */
const place = () => document.querySelector('[data-passkey]');

/** @param {string} text */
const toBytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
/** @param {ArrayBuffer} bytes */
const toText = (bytes) => {
  const binary = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

/** Converts the options to the browser's format; older browsers cannot parse them from JSON. @param {Options} options */
function read({ ceremony, publicKey }) {
  const parse = ceremony === 'create' ? api.parseCreationOptionsFromJSON : api.parseRequestOptionsFromJSON;
  if (parse) return parse.call(api, publicKey);
  const withBytes = (/** @type {any[]} */ list) => list.map((one) => ({ ...one, id: toBytes(one.id) }));
  const { challenge, user, excludeCredentials, allowCredentials } = publicKey;
  return {
    ...publicKey,
    challenge: toBytes(challenge),
    ...(user && { user: { ...user, id: toBytes(user.id) } }),
    ...(excludeCredentials && { excludeCredentials: withBytes(excludeCredentials) }),
    ...(allowCredentials && { allowCredentials: withBytes(allowCredentials) }),
  };
}

/** Returns the credential as JSON, with only the members that the server reads. @param {any} credential */
function write({ id, rawId, type, response, authenticatorAttachment }) {
  const names = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const held = names.filter((name) => response[name]).map((name) => [name, toText(response[name])]);
  return JSON.stringify({
    id,
    rawId: toText(rawId),
    type,
    response: Object.fromEntries(held),
    clientExtensionResults: {},
    ...(authenticatorAttachment && { authenticatorAttachment }),
  });
}

/** Fetches the options of the current ceremony. @param {string} address @returns {Promise<Options>} */
async function fetchOptions(address) {
  const reply = await fetch(address, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(ANSWER_MS) });
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  return reply.json();
}

/** Shows a message. @param {string | undefined} text */
function say(text) {
  const said = part('passkey-said');
  if (said) said.textContent = text ?? '';
}

/** Makes `login.js` poll at once; resolves when the page is up to date. */
function lookAgain() {
  return new Promise((resolve) => document.dispatchEvent(new CustomEvent('signpost:look', { detail: resolve })));
}

/** Prompts the device, sends its credential to the server, and updates the page. @param {boolean} isByButton */
async function ask(isByButton) {
  const held = place();
  if (!held) return;
  const address = held.dataset.passkey ?? '';
  const token = /** @type {HTMLInputElement | null} */ (held.querySelector('[name=token]'))?.value ?? '';
  const answered = held.dataset.answered;
  say('');
  const mine = new AbortController();
  if (!isByButton) waiting = mine;
  const options = await fetchOptions(address);
  if (mine.signal.aborted) return;
  const request = { publicKey: read(options), signal: mine.signal, ...(!isByButton && { mediation: 'conditional' }) };
  const credential = /** @type {any} */ (await (options.ceremony === 'create' ? credentials.create(request) : credentials.get(request)));
  if (credential) await send(address, token, credential, options, answered);
}

/**
 * @param {string} address @param {string} token @param {any} credential @param {Options} options
 * @param {string | undefined} answered
 */
async function send(address, token, credential, options, answered) {
  const body = new URLSearchParams({ token, credential: write(credential) });
  const reply = await fetch(address, { method: 'POST', body, signal: AbortSignal.timeout(ANSWER_MS) });
  if (reply.ok) {
    const main = part('main');
    if (main && answered) main.dataset.answered = answered;
    await lookAgain();
    return;
  }
  const refused = await reply.json().catch(() => ({}));
  // A passkey that the server does not know is removed from the device, even if it was just created.
  const made = options.ceremony === 'create' && { rpId: options.publicKey.rp.id, credentialId: credential.id };
  const dead = refused.signal ?? (reply.status < 500 && made);
  if (dead) await api.signalUnknownCredential?.(dead)?.catch(() => {});
  await lookAgain();
  if (refused.message && !part('notice')?.textContent?.includes(refused.message)) say(refused.message);
}

/** Handles the button, which cancels the field's request. */
async function press() {
  if (isAsking) return;
  isAsking = true;
  disarm();
  part('use-passkey')?.setAttribute('aria-disabled', 'true');
  try {
    await ask(true);
  } catch (error) {
    await complain(error);
  } finally {
    isAsking = false;
    part('use-passkey')?.removeAttribute('aria-disabled');
    arm();
  }
}

/** Shows an error, unless the user cancelled or the server has shown it. @param {any} error */
async function complain(error) {
  if (error?.name === 'NotAllowedError' || error?.name === 'AbortError') return;
  if (!(error instanceof DOMException) || error.name === 'TimeoutError') {
    await lookAgain();
    return;
  }
  const { exists, failed } = part('passkey-said')?.dataset ?? {};
  say(error.name === 'InvalidStateError' ? exists : failed);
}

/** Starts the autofill request for the code on the page. */
async function arm() {
  if (isAsking || !part('saved-passkeys') || !document.documentElement.classList.contains('autofills')) return;
  armedFor = codeNow();
  try {
    await ask(false);
  } catch (error) {
    // The user pressed nothing, so an error of the device is no answer to anything.
    if (!waiting?.signal.aborted && !(error instanceof DOMException)) await complain(error);
  }
}

function disarm() {
  armedFor = '';
  waiting?.abort();
  waiting = null;
}

/** Returns the identity of the page's code, to distinguish codes. */
const codeNow = () => part('expires')?.getAttribute('datetime') ?? '';

/** Initializes a new page: it enables the button, and requests the challenge of a new code. */
function begin() {
  part('use-passkey')?.addEventListener('click', press);
  if (armedFor !== codeNow()) {
    disarm();
    arm();
  }
  showOffer();
}

/** Offers to create a passkey if this device has a platform authenticator; if not, continues at once. */
async function showOffer() {
  const offer = part('passkey-offer');
  if (!offer) return;
  const canMake = await Promise.resolve(api?.isUserVerifyingPlatformAuthenticatorAvailable?.()).catch(() => false);
  if (canMake && credentials) offer.removeAttribute('hidden');
  else document.dispatchEvent(new Event('signpost:go-on'));
}

async function start() {
  const root = document.documentElement.classList;
  if (api && credentials) {
    root.add('has-passkeys');
    document.dispatchEvent(new Event('signpost:passkeys'));
    const canFill = await Promise.resolve(api.isConditionalMediationAvailable?.()).catch(() => false);
    if (canFill) root.add('autofills');
  }
  document.addEventListener('signpost:page', begin);
  begin();
}

start();
