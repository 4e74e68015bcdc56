// @ts-check
// Parses login codes, and builds the text to sign (docs/handlers.md). Anything but an exact code is rejected: another
// parser must not find another host in the text.

const CHALLENGE = /^svc:(login|register|link):([a-z0-9.-]{1,253}):([0-9]{1,12}):([A-Za-z0-9_-]{22})$/;
/** Maximum length of a text in a QR code. */
const MOST_LETTERS = 2953;

/**
 * @typedef {object} Code
 * @property {boolean} namesHost whether the signed text includes the host: `v=2`
 * @property {boolean} takesNumber whether the signed text includes the page's number
 * @property {URL} webhook the URL for the answer
 * @property {string} challenge
 * @property {'login' | 'register' | 'link'} mode
 * @property {string} domain
 * @property {number} expiresAt in Unix seconds
 */

/**
 * Parses a scanned, pasted or followed text: a code, or an address of a wallet with a code after its `#`.
 * @param {string} text
 * @returns {Code | null}
 */
export function readCode(text) {
  const code = find(text.trim());
  if (!code || code.length > MOST_LETTERS) return null;
  /** @type {Map<string, string>} */
  const values = new Map();
  for (const pair of code.slice('svc://auth?'.length).split('&')) {
    const [name, ...rest] = pair.split('=');
    if (values.has(name)) return null;
    values.set(name, decode(rest.join('=')));
  }
  const [version, number, address] = ['v', 'number', 'webhook'].map((name) => values.get(name));
  const [challenge, expires] = ['challenge', 'exp'].map((name) => values.get(name) ?? '');
  const parts = CHALLENGE.exec(challenge);
  const webhook = readAddress(address);
  const isKnown = version === '1' || (version === '2' && (number === undefined || number === '1'));
  if (!isKnown || !parts || !webhook || !/^[0-9]{1,12}$/.test(expires)) return null;
  return {
    namesHost: version === '2',
    takesNumber: version === '2' && number === '1',
    webhook,
    challenge,
    mode: /** @type {Code['mode']} */ (parts[1]),
    domain: parts[2],
    expiresAt: Number(expires),
  };
}

/**
 * Returns the text to sign for a code, with the user's number, if it is required.
 * @param {Code} code
 * @param {string | null} number
 */
export function textToSign(code, number) {
  const [, mode, domain, time, nonce] = code.challenge.split(':');
  const sentence = `Sign this to ${mode} to ${domain} at ${time}:${nonce}`;
  if (!code.namesHost) return sentence;
  return `${sentence} through ${code.webhook.host}${number === null ? '' : ` with ${number}`}`;
}

/** @param {string} text */
function find(text) {
  // Some cameras escape the colons after the `#`.
  const plain = /svc%3a/i.test(text) ? decode(text) : text;
  const at = plain.startsWith('https:') || plain.startsWith('http:') ? plain.indexOf('#') + 1 : 0;
  const code = plain.slice(at);
  return code.startsWith('svc://auth?') ? code : null;
}

/** @param {string | undefined} text */
function readAddress(text) {
  // Rejects addresses that a URL parser would repair, because another parser may read them differently.
  if (!text || !/^https?:\/\/[!-[\]-~]+$/.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.username || url.password || url.hash || url.search ? null : url;
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
