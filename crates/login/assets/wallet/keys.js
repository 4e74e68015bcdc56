// @ts-check
// A key for each domain, derived from a root (docs/browser-wallet.md, Keys): sites cannot link their users' keys, and the
// words determine the root.

import { getPublicKey, signAsync, utils } from './secp256k1.js';

/** Text that is hashed with the seed, and with the root. It must not change: it determines all keys. */
const ROOT = 'signpost wallet root v1';
const SITE = 'signpost wallet key v1';

/**
 * Derives the root of all keys.
 * @param {Uint8Array<ArrayBuffer>} seed of BIP-39; it is zeroed afterwards
 */
export async function toRoot(seed) {
  const root = await hmac(encode(ROOT), seed);
  seed.fill(0);
  return root;
}

/**
 * Derives the secret key for a domain. If the number is not a valid key (1 in 2^128), the next number is used.
 * @param {Uint8Array<ArrayBuffer>} root
 * @param {string} domain as in the challenge
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
 * Signs a text's UTF-8 bytes: SHA-256, RFC 6979, low `s`, DER in hex.
 * @param {string} text
 * @param {Uint8Array} secret
 */
export async function sign(text, secret) {
  const compact = await signAsync(encode(text), secret);
  const parts = [compact.slice(0, 32), compact.slice(32)].map(toInteger);
  return toHex([0x30, parts[0].length + parts[1].length, ...parts[0], ...parts[1]]);
}

/** Encodes a positive number in DER: no leading zeros, except before a set sign bit. @param {Uint8Array} bytes */
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
