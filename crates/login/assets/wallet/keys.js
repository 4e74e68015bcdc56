// @ts-check
// One key for each site, all of one root (docs/browser-wallet.md, Keys): a site that knows its own learns nothing of
// another's, and the root follows from the words alone.

import { getPublicKey, signAsync, utils } from './secp256k1.js';

/** Text that is hashed with the seed, and with the root: a change of either would be another wallet. */
const ROOT = 'signpost wallet root v1';
const SITE = 'signpost wallet key v1';

/**
 * The root of all keys.
 * @param {Uint8Array<ArrayBuffer>} seed of BIP-39; it is empty afterwards
 */
export async function toRoot(seed) {
  const root = await hmac(encode(ROOT), seed);
  seed.fill(0);
  return root;
}

/**
 * The secret key for a domain. One in 2^128 numbers is no key, and then the next is taken.
 * @param {Uint8Array<ArrayBuffer>} root
 * @param {string} domain as the challenge has it
 */
export async function toSecret(root, domain) {
  for (let counter = 0; ; counter += 1) {
    const secret = await hmac(root, encode(`${SITE}\n${domain}\n${counter}`));
    if (utils.isValidSecretKey(secret)) return secret;
  }
}

/** @param {Uint8Array} secret */
export const publicKeyOf = (secret) => toHex(getPublicKey(secret, true));

/**
 * Signs a text's UTF-8 bytes as every wallet does: SHA-256, RFC 6979, the lower of both `s`, DER in hex.
 * @param {string} text
 * @param {Uint8Array} secret
 */
export async function sign(text, secret) {
  const compact = await signAsync(encode(text), secret);
  const parts = [compact.slice(0, 32), compact.slice(32)].map(toInteger);
  return toHex([0x30, parts[0].length + parts[1].length, ...parts[0], ...parts[1]]);
}

/** A positive number in DER: without leading zeros, but for one before a bit that would be a sign. @param {Uint8Array} bytes */
function toInteger(bytes) {
  const digits = [...bytes.slice(bytes.findIndex((byte) => byte !== 0))];
  if (digits[0] >= 0x80) digits.unshift(0);
  return [0x02, digits.length, ...digits];
}

/** @param {Uint8Array<ArrayBuffer>} key @param {Uint8Array<ArrayBuffer>} data */
async function hmac(key, data) {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data));
}

/** @param {Uint8Array | number[]} bytes */
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @param {string} text */
const encode = (text) => new TextEncoder().encode(text);
