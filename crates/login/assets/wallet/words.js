// @ts-check
// The 24 words: 256 random bits and a checksum of eight bits, with 11 bits per word (BIP-39). They restore all keys in
// another browser.

import { wordlist } from './english.js';

export const WORD_COUNT = 24;
const ENTROPY_BYTES = 32;
const BITS_PER_WORD = 11;
/** Number of first letters that identify a word of the list. */
const TELLING_LETTERS = 4;
/** PBKDF2 iterations of BIP-39. */
const STRETCHING_ROUNDS = 2048;

/** The error of invalid words. */
export class WrongWords extends Error {
  /**
   * @param {'count' | 'unknown' | 'checksum'} reason
   * @param {{ count?: number, position?: number, word?: string, meant?: string }} [more] `position` counts from 1
   */
  constructor(reason, more = {}) {
    super(reason);
    this.reason = reason;
    this.more = more;
  }
}

/** Returns new random words. */
export function drawWords() {
  return toWords(crypto.getRandomValues(new Uint8Array(ENTROPY_BYTES)));
}

/** @param {Uint8Array<ArrayBuffer>} entropy 256 bits */
export async function toWords(entropy) {
  const bits = [...entropy, await checksum(entropy)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  entropy.fill(0);
  return Array.from({ length: WORD_COUNT }, (_, at) => wordlist[parseInt(bits.slice(at * BITS_PER_WORD, (at + 1) * BITS_PER_WORD), 2)]);
}

/**
 * Parses typed words: in any case, with any space; numbers and dots before the words are ignored.
 * @param {string} text
 * @throws {WrongWords} which names the wrong word, if any
 */
export async function readWords(text) {
  const typed = text.normalize('NFKD').toLowerCase().split(/[\s,.;0-9]+/).filter((word) => word !== '');
  const at = typed.findIndex((word) => !wordlist.includes(word));
  if (at >= 0) throw new WrongWords('unknown', { position: at + 1, word: typed[at], meant: meant(typed[at]) });
  if (typed.length !== WORD_COUNT) throw new WrongWords('count', { count: typed.length });
  const bits = typed.map((word) => wordlist.indexOf(word).toString(2).padStart(BITS_PER_WORD, '0')).join('');
  const bytes = Uint8Array.from({ length: ENTROPY_BYTES + 1 }, (_, byte) => parseInt(bits.slice(byte * 8, byte * 8 + 8), 2));
  const entropy = bytes.slice(0, ENTROPY_BYTES);
  const isWhole = (await checksum(entropy)) === bytes[ENTROPY_BYTES];
  bytes.fill(0);
  entropy.fill(0);
  if (!isWhole) throw new WrongWords('checksum');
  return typed;
}

/**
 * Derives the 64-byte seed of BIP-39, without a passphrase.
 * @param {string[]} words
 */
export async function toSeed(words) {
  const key = await crypto.subtle.importKey('raw', encode(words.join(' ')), 'PBKDF2', false, ['deriveBits']);
  const how = { name: 'PBKDF2', hash: 'SHA-512', salt: encode('mnemonic'), iterations: STRETCHING_ROUNDS };
  return new Uint8Array(await crypto.subtle.deriveBits(how, key, 512));
}

/** Returns the first eight bits of the hash of 256 bits. @param {Uint8Array<ArrayBuffer>} entropy */
async function checksum(entropy) {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', entropy))[0];
}

/** Returns the only word with the first letters of a wrong word. @param {string} word */
function meant(word) {
  for (let letters = Math.min(TELLING_LETTERS, word.length); letters > 1; letters -= 1) {
    const alike = wordlist.filter((known) => known.startsWith(word.slice(0, letters)));
    if (alike.length === 1) return alike[0];
  }
  return undefined;
}

/** @param {string} text */
const encode = (text) => new TextEncoder().encode(text);
