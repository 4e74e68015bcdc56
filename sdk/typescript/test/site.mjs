// Sites, their server, and users without a browser.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const SIGNPOST = process.env.SIGNPOST ?? assert.fail('SIGNPOST is the built program; sdk/typescript/test.sh sets it');

export async function freePort() {
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a program; `end` stops it. */
export function start(command, args, options) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
  const exit = once(child, 'exit');
  const end = async () => {
    child.kill();
    await exit;
  };
  return { child, exit, end };
}

/** Waits until a site responds. */
export async function answers(origin, { child }) {
  while (child.exitCode === null) {
    if (await fetch(origin).catch(() => null)) return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  throw new Error(`the site ended with ${child.exitCode}`);
}

/** `signpost serve` in a new folder. */
export class Server {
  static async start() {
    const server = Object.assign(new Server(), { folder: mkdtempSync(join(tmpdir(), 'signpost-sdk-')) });
    const limits = ['ANSWER', 'CREATE_SESSION', 'GET_SESSION', 'DOMAINS', 'MCP'].map((name) => [`SIGNPOST_RATE_LIMIT_${name}`, 'off']);
    const env = { ...process.env, ...Object.fromEntries(limits), SIGNPOST_LOG: 'error' };
    server.program = start(SIGNPOST, ['serve', '--json', '--listen', '127.0.0.1:0', '--data-dir', join(server.folder, 'data')], { env });
    const lines = createInterface({ input: server.program.child.stdout });
    const [line] = await Promise.race([once(lines, 'line'), server.program.exit.then(() => assert.fail('the server ended'))]);
    const { listen, public_address } = JSON.parse(line);
    Object.assign(server, { api: `http://${listen}/sandbox/v1`, origin: public_address, listen });
    server.key = (await server.command('keys', 'create', '--environment', 'sandbox', '--name', 'sdk')).key;
    return server;
  }

  async command(...args) {
    return JSON.parse((await run(SIGNPOST, [...args, '--json', '--data-dir', join(this.folder, 'data')])).stdout);
  }

  async close() {
    await this.program.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Sends a browser's navigation request; `fetch` would mark it as a script's request. */
export function visit(url, { method, headers, body }) {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (reply) => {
      const chunks = [];
      reply.on('data', (chunk) => chunks.push(chunk));
      reply.on('end', () => {
        const fields = new Headers();
        for (const [name, value] of Object.entries(reply.headersDistinct)) for (const item of value) fields.append(name, item);
        resolve(new Response(reply.statusCode === 204 ? null : Buffer.concat(chunks), { status: reply.statusCode, headers: fields }));
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** A user without scripts: cookies of each site, and a wallet. */
export class Person {
  #jars = new Map();

  constructor(server) {
    this.folder = mkdtempSync(join(server.folder, 'wallet-'));
    this.made = run(SIGNPOST, ['wallet', 'new', '--json', '--data-dir', this.folder]);
  }

  /** Opens an address like a browser; returns `{status, url, text, headers}` of the last page. `stop`: of the first redirect. */
  async open(url, { method = 'GET', stop = false, ask = visit } = {}) {
    for (let hops = 0; hops < 10; hops += 1) {
      const { origin } = new URL(url);
      const jar = this.#jars.get(origin) ?? new Map();
      this.#jars.set(origin, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const reply = await ask(url, { method, headers: cookie ? { cookie } : {} });
      for (const line of reply.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
        if (/Max-Age=0(;|$)/i.test(line)) jar.delete(name);
        else jar.set(name, value);
      }
      const location = reply.headers.get('location');
      if (!location || stop) return { status: reply.status, url, location, text: await reply.text(), headers: reply.headers, cookies: jar };
      url = new URL(location, url).href;
    }
    throw new Error('redirects without an end');
  }

  /** Answers the code of a login page, and returns the address that the page redirects to. */
  async answer(page) {
    const unescaped = page.text.replaceAll('&amp;', '&');
    const code = /href="(svc:[^"]+)"/.exec(unescaped)[1];
    const number = /id="number"[^>]*>(\d\d)</.exec(unescaped)?.[1];
    await this.scan(code, number);
    const after = await this.open(page.url);
    return /url=(http[^"]+\/return\?[^"]+)"/.exec(after.text.replaceAll('&amp;', '&'))?.[1];
  }

  async scan(code, number) {
    await this.made;
    const args = ['wallet', 'scan', code, '--yes', ...(number ? ['--confirm-code', number] : []), '--json', '--data-dir', this.folder];
    const { stdout, stderr } = await run(SIGNPOST, args).catch((error) => error);
    assert.ok(stdout, stderr);
    return JSON.parse(stdout);
  }
}
