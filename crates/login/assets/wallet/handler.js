// @ts-check
// The client of the server that receives answers.

import { textToSign } from './code.js';

/** Timeout of a request. */
const ANSWER_MS = 15_000;
/** Maximum difference between the clocks that the server accepts, in seconds. */
const CLOCK_TOLERANCE = 30;

/**
 * @typedef {import('./code.js').Code} Code
 * @typedef {object} Context the server's information about a code
 * @property {string} domain
 * @property {boolean} verified whether the server has proof of the domain
 * @property {boolean} number whether the user must type the page's number
 * @property {{ ip?: string, country?: string, user_agent?: string }} [requester]
 *
 * @typedef {object} Outcome the result of an answer; `name` is the name of a text in the page
 * @property {string} name
 * @property {number} [seconds] how far the clock is ahead, or how long to wait
 */

/** The reason why a code cannot be answered, or not yet. */
export class Refused extends Error {
  /** @param {string} name of a text in the page @param {number} [seconds] */
  constructor(name, seconds) {
    super(name);
    /** @type {Outcome} */
    this.outcome = { name, seconds };
  }
}

/**
 * Returns whether this wallet's server receives the answer; codes of other servers need another wallet.
 * @param {Code} code
 * @param {string[]} handlers addresses, without the mode
 */
export const isOurs = (code, handlers) => handlers.some((handler) => code.webhook.href === `${handler}/${code.mode}`);

/**
 * Fetches the context of a pending code.
 * @param {Code} code
 * @returns {Promise<Context>}
 * @throws {Refused}
 */
export async function askAbout(code) {
  const reply = await ask(`${code.webhook.href}?challenge=${encodeURIComponent(code.challenge)}`, {});
  const ahead = secondsAhead(reply);
  if (Math.abs(ahead) > CLOCK_TOLERANCE) throw new Refused('clock', ahead);
  if (!reply.ok) throw new Refused(...refusal(reply, await details(reply)));
  if (code.expiresAt <= Date.now() / 1000) throw new Refused('gone');
  return reply.json();
}

/**
 * Signs and posts an answer.
 * @param {Code} code
 * @param {string | null} number
 * @param {(text: string) => Promise<{ publicKey: string, signature: string }>} sign
 * @returns {Promise<void>}
 * @throws {Refused}
 */
export async function answer(code, number, sign) {
  if (code.expiresAt <= Date.now() / 1000) throw new Refused('gone');
  const challenge = textToSign(code, number);
  const { publicKey, signature } = await sign(challenge);
  const body = {
    public_key: publicKey,
    signature,
    challenge,
    timestamp: Math.floor(Date.now() / 1000),
    device_info: { platform: 'browser' },
    ...(!code.namesHost && number !== null && { confirm_code: number }),
  };
  const headers = { 'content-type': 'application/json' };
  const reply = await ask(code.webhook.href, { method: 'POST', headers, body: JSON.stringify(body) });
  if (reply.status === 408) throw new Refused('clock', secondsAhead(reply));
  if (!reply.ok) throw new Refused(...refusal(reply, await details(reply)));
}

/** @param {string} address @param {RequestInit} request */
async function ask(address, request) {
  try {
    return await fetch(address, { ...request, redirect: 'error', cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
  } catch {
    throw new Refused('away');
  }
}

/** Returns how far this device's clock is ahead of the server's. @param {Response} reply */
function secondsAhead(reply) {
  const date = Date.parse(reply.headers.get('date') ?? '');
  return Number.isNaN(date) ? 0 : Math.round((Date.now() - date) / 1000);
}

/** @param {Response} reply @returns {Promise<{ reason?: string }>} */
async function details(reply) {
  const body = await reply.json().catch(() => null);
  return body?.details ?? {};
}

/** Returns the text for an error. @param {Response} reply @param {{ reason?: string }} details @returns {[string, number?]} */
function refusal({ status, headers }, { reason }) {
  const named = { confirm_code: 'number', host: 'host', account_needed: 'create', registration_closed: 'closed', method: 'method', credential_exists: 'taken', user: 'other_user' };
  if (reason && reason in named) return [named[/** @type {keyof typeof named} */ (reason)]];
  if (status === 404 || status === 410) return ['gone'];
  if (status === 409) return ['known'];
  if (status === 429) return ['busy', Number(headers.get('retry-after') ?? 1)];
  return [status >= 500 ? 'failed' : 'refused'];
}
