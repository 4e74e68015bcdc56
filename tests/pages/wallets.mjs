// Wallets: the program's, and a wallet that sends faulty answers.
import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SIGNPOST = process.env.SIGNPOST ?? new URL('../../target/debug/signpost', import.meta.url).pathname;
let made = 0;

/** `signpost wallet`, with its own key. */
export class Wallet {
  static async make(server) {
    const wallet = new Wallet();
    wallet.folder = join(server.folder, `wallet-${++made}`);
    wallet.publicKey = (await wallet.#command('wallet', 'new')).public_key;
    return wallet;
  }

  /**
   * Answers a code, with the number that the user typed, if the page shows it: returns the handler's `{status, body}`.
   * `host` is a host that the user trusts without proof.
   */
  scan(code, number, host) {
    const typed = number ? ['--confirm-code', number] : [];
    return this.#command('wallet', 'scan', code, '--yes', ...typed, ...(host ? ['--allow-host', host] : []));
  }

  /** Answers a Lightning code. */
  lnurl(link) {
    return this.#command('wallet', 'lnurl', link, '--yes');
  }

  /** Returns the command's output, which includes errors of the server. */
  async #command(...args) {
    const printed = await run(SIGNPOST, [...args, '--json', '--data-dir', this.folder]).catch((error) => {
      if (!error.stdout) throw error;
      return error;
    });
    return JSON.parse(printed.stdout);
  }
}

/** A minimal wallet for faulty answers. */
export class CrookedWallet {
  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    const [bytesX, bytesY] = [x, y].map((part) => Buffer.from(part, 'base64url'));
    this.publicKey = Buffer.concat([Buffer.from([2 + (bytesY.at(-1) % 2)]), bytesX]).toString('hex');
    this.privateKey = privateKey;
  }

  /** Answers a code: `through` another host, with a clock that is `secondsOff`, at `address` instead of the code's. */
  async answer(code, number, { through, secondsOff = 0, address } = {}) {
    const query = new URLSearchParams(code.slice(code.indexOf('?') + 1));
    const webhook = new URL(query.get('webhook'));
    const [, mode, domain, ...rest] = query.get('challenge').split(':');
    const challenge = `Sign this to ${mode} to ${domain} at ${rest.join(':')} through ${through ?? webhook.host} with ${number}`;
    const body = {
      challenge,
      public_key: this.publicKey,
      signature: sign('sha256', Buffer.from(challenge), this.privateKey).toString('hex'),
      timestamp: Math.floor(Date.now() / 1000) + secondsOff,
    };
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(address ?? webhook, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: reply.status, body: await reply.json() };
  }
}

export const sha256 = (text) => createHash('sha256').update(text).digest('base64url');
