// @ts-check
// What a login code says, and the text that answers it (docs/handlers.md). Whatever is not exactly a code is none: a second
// reader of the same text must not find another host in it.

const CHALLENGE = /^svc:(login|register|link):([a-z0-9.-]{1,253}):([0-9]{1,12}):([A-Za-z0-9_-]{22})$/;
/** Nothing longer fits into a QR code. */
const MOST_LETTERS = 2953;

/**
 * @typedef {object} Code
 * @property {boolean} namesHost whether the host is part of what is signed: `v=2`
 * @property {boolean} takesNumber whether the page's number is part of it too
 * @property {URL} webhook where the answer goes
 * @property {string} challenge
 * @property {'login' | 'register' | 'link'} mode
 * @property {string} domain
 * @property {number} expiresAt in Unix seconds
 */

/**
 * Reads what was scanned, pasted or followed: a code, or an address of a wallet with a code behind its `#`.
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
 * The one text that answers a code, with the number that the person typed, where one was asked for.
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
  // Some cameras hand on what stands behind `#` with its colons escaped.
  const plain = /svc%3a/i.test(text) ? decode(text) : text;
  const at = plain.startsWith('https:') || plain.startsWith('http:') ? plain.indexOf('#') + 1 : 0;
  const code = plain.slice(at);
  return code.startsWith('svc://auth?') ? code : null;
}

/** @param {string | undefined} text */
function readAddress(text) {
  // What a parser would repair is not what another one reads.
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
