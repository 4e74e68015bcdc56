// The program under test: in a new folder, killed and restarted at the same address.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { reservePort } from '../ports.mjs';

const run = promisify(execFile);
const SIGNPOST = process.env.SIGNPOST ?? new URL('../../target/debug/signpost', import.meta.url).pathname;
/** Rate limits are off unless a test needs them: all browsers and wallets here share an address. */
const UNLIMITED = Object.fromEntries(['ANSWER', 'CREATE_SESSION', 'GET_SESSION', 'DOMAINS', 'MAP'].map((name) => [`SIGNPOST_RATE_LIMIT_${name}`, 'off']));

/** The environment that `faketime` sets; its process would be between us and the program. $LIB is the loader's. */
const faked = (clock) => ({ LD_PRELOAD: '/usr/$LIB/faketime/libfaketime.so.1', FAKETIME: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1' });

export class Server {
  #child;
  #keys = new Map();

  constructor(settings) {
    this.folder = mkdtempSync(join(tmpdir(), 'signpost-pages-'));
    this.settings = settings;
    this.port = 0;
    this.ahead = 0;
  }

  /** Starts `signpost serve` with these settings (`SIGNPOST_…` without the prefix). */
  static async start(settings = {}) {
    const server = new Server(settings);
    server.port = await reservePort();
    await server.start();
    return server;
  }

  /** The origin for users' browsers. */
  get origin() {
    return this.settings.PUBLIC_URL ?? `http://localhost:${this.port}`;
  }

  /** Starts or restarts it: in its folder, on its port, with its clock this many minutes further ahead. */
  async start(minutes = 0) {
    this.ahead += minutes;
    const settings = Object.entries(this.settings).map(([name, value]) => [`SIGNPOST_${name}`, value]);
    const env = { ...process.env, ...UNLIMITED, ...Object.fromEntries(settings), ...(this.ahead > 0 && faked(`+${this.ahead}m`)) };
    const args = ['serve', '--json', '--listen', `127.0.0.1:${this.port}`, '--data-dir', this.#data()];
    this.#child = spawn(SIGNPOST, args, { env, stdio: ['ignore', 'pipe', process.env.SHOW_LOG ? 'inherit' : 'ignore'] });
    const lines = createInterface({ input: this.#child.stdout });
    const line = await new Promise((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('the server ended before it printed its address; SHOW_LOG=1 shows its log')));
    });
    this.port = Number(/:(\d+)$/.exec(JSON.parse(line).listen)[1]);
  }

  /** Ends it like a crash. */
  async kill() {
    await this.#end('SIGKILL');
  }

  /** Ends it permanently. */
  async close() {
    await this.#end('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Returns the JSON output of a command of the program, on this server's data. */
  async command(...args) {
    const { stdout } = await run(SIGNPOST, [...args, '--json', '--data-dir', this.#data()]);
    return JSON.parse(stdout);
  }

  /** Calls the API with a key of this account and environment: `{status, body}`. */
  async call(method, path, body, { environment = 'sandbox', account = 'default' } = {}) {
    const key = await this.key(environment, account);
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
    const prefix = environment === 'sandbox' ? '/sandbox/v1' : '/v1';
    const reply = await fetch(`http://127.0.0.1:${this.port}${prefix}${path}`, { method, headers, body: body && JSON.stringify(body) });
    const text = await reply.text();
    return { status: reply.status, body: text && JSON.parse(text) };
  }

  /** Returns the body of a successful call. */
  async ask(method, path, body, who) {
    const reply = await this.call(method, path, body, who);
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  /** Registers a hosted domain. */
  async host(domain, webhook_url, settings, who) {
    const made = await this.ask('POST', '/domains', { domain, webhook_url }, who);
    return this.ask('PATCH', `/domains/${made.id}`, { handler: 'hosted', ...settings }, who);
  }

  /** Returns the API key of an account, created at its first use. */
  async key(environment, account) {
    const name = `${environment} of ${account}`;
    if (!this.#keys.has(name)) {
      this.#keys.set(name, this.command('keys', 'create', '--environment', environment, '--account', account, '--name', name));
    }
    return (await this.#keys.get(name)).key;
  }

  #data() {
    return join(this.folder, 'data');
  }

  async #end(signal) {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill(signal);
    await ended;
  }
}
