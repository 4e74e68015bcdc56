// Cookies of the example sites over https: their names begin with `__Host-`, so that no other host can set them. The service
// is simulated, and users send plain requests: a proxy would terminate TLS in front of each site.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { reservePort } from '../ports.mjs';
import { answers } from './examples.mjs';

const ROOT = new URL('../../', import.meta.url).pathname;
const NODE = process.execPath;
const PYTHON = 'venv/bin/python';
const BUILT = dirname(resolve(process.env.SIGNPOST ?? `${ROOT}target/debug/signpost`));
const SITE = 'https://localhost';
const SESSION = 'sess_0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a';

/** The query of the login page's redirect to the site. */
const RETURNED = `session_id=${SESSION}&code=one-time`;
/** The paths of the SDKs' handlers: the start of a login, and the callback. */
const HANDLERS = { start: ['GET', '/signpost/login'], back: `/signpost/return?${RETURNED}` };
/** `isOwn`: the site reads its login cookie itself. Frameworks with signed cookies read the first of two duplicates. */
const SITES = [
  { name: 'examples/page in JavaScript', folder: 'examples/page', command: [NODE, 'site.mjs'], start: ['GET', '/login'], back: `/return?${RETURNED}`, isOwn: true },
  { name: 'examples/page in Python', folder: 'examples/page', command: ['python3', 'site.py'], start: ['GET', '/login'], back: `/return?${RETURNED}`, isOwn: true },
  { name: 'examples/element', folder: 'examples/element', command: [NODE, 'site.mjs'], start: ['POST', '/login'], back: '/in', isOwn: true },
  { name: 'Express', folder: 'sdk/typescript', command: [NODE, 'examples/express.mjs'], needs: 'dist/index.js', ...HANDLERS, isOwn: true },
  { name: 'Fastify', folder: 'sdk/typescript', command: [NODE, 'examples/fastify.mjs'], needs: 'dist/index.js', ...HANDLERS, isOwn: true },
  { name: 'Hono', folder: 'sdk/typescript', command: [NODE, 'examples/hono.mjs'], needs: 'dist/index.js', ...HANDLERS, isOwn: true },
  { name: 'Passport', folder: 'sdk/typescript', command: [NODE, 'recipes/passport.mjs'], needs: 'dist/index.js', ...HANDLERS },
  { name: 'Auth.js', folder: 'sdk/typescript', command: [NODE, 'recipes/authjs.mjs'], needs: 'dist/index.js', ...HANDLERS },
  { name: 'FastAPI', folder: 'sdk/python', command: [PYTHON, 'examples/fastapi_site.py'], needs: PYTHON, ...HANDLERS, isOwn: true },
  { name: 'Flask', folder: 'sdk/python', command: [PYTHON, 'examples/flask_site.py'], needs: PYTHON, ...HANDLERS },
  { name: 'Django', folder: 'sdk/python', command: [PYTHON, 'examples/django_site.py'], needs: PYTHON, ...HANDLERS },
  { name: 'Flask-Login', folder: 'sdk/python', command: [PYTHON, 'recipes/flask_login_site.py'], needs: PYTHON, ...HANDLERS },
  { name: "Django's users", folder: 'sdk/python', command: [PYTHON, 'recipes/django_auth.py'], needs: PYTHON, ...HANDLERS },
  { name: 'net/http', folder: 'sdk/go', command: ['.cache/site'], needs: '.cache/site', ...HANDLERS, isOwn: true },
  { name: 'axum', folder: BUILT, command: ['examples/site'], needs: 'examples/site', ...HANDLERS, isOwn: true },
];

/** The service's part of a login: every session belongs to the same user. */
class Service {
  static async start() {
    const service = new Service();
    service.server = createServer((request, response) => service.#answer(request, response)).listen(0, '127.0.0.1');
    await once(service.server, 'listening');
    service.api = `http://127.0.0.1:${service.server.address().port}/sandbox/v1`;
    return service;
  }

  #answer(request, response) {
    const session = { id: SESSION, challenge: 'svc:', qr_data: 'svc://auth', expires_at: '2023-11-14T22:18:10Z', created_at: '2023-11-14T22:13:10Z' };
    const isNew = request.url.endsWith('/sessions');
    const user = { id: 'usr_0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c', public_key: `02${'0'.repeat(64)}`, device_info: {} };
    const more = isNew ? { status: 'pending', page_url: 'https://login.example/login/x' } : { status: 'authenticated', method: 'scan', mode: 'login', user };
    request.resume();
    response.writeHead(isNew ? 201 : 200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...session, ...more }));
  }

  async close() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

const folder = mkdtempSync(join(tmpdir(), 'signpost-cookies-'));
let service;
before(async () => (service = await Service.start()));
after(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

for (const site of SITES) {
  describe(site.name, () => {
    let child, port;

    before(async () => {
      const at = resolve(ROOT, site.folder);
      assert.ok(!site.needs || existsSync(join(at, site.needs)), `${join(site.folder, site.needs ?? '')} is not there: install the SDK`);
      port = await reservePort();
      const settings = { API: service.api, KEY: 'svc_test_key', PORT: String(port), SITE, DATABASE: join(folder, 'site.sqlite3'), COOKIE_SECRET: 'of the site, 32 characters or more' };
      const [program, ...args] = site.command;
      child = spawn(program, args, { cwd: at, env: { ...process.env, ...settings }, stdio: process.env.SHOW_LOG ? 'inherit' : 'ignore' });
      await answers(`http://localhost:${port}`, child);
    });
    after(async () => {
      if (!child) return;
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    });

    /** Sends a request like the proxy: `{status, text, set}`, the last with the pair and the attributes of each cookie. */
    async function send([method, path], cookie) {
      const headers = { host: 'localhost', 'x-forwarded-proto': 'https', ...(cookie && { cookie }) };
      const reply = await new Promise((resolve, reject) => {
        request({ host: 'localhost', port, path, method, headers, agent: false }).on('response', resolve).on('error', reject).end();
      });
      const text = (await reply.setEncoding('utf8').toArray()).join('');
      const set = (reply.headers['set-cookie'] ?? []).map((cookie) => cookie.split(/; */));
      return { status: reply.statusCode, text, set: set.map(([pair, ...attributes]) => ({ pair, attributes: attributes.map((attribute) => attribute.toLowerCase()) })) };
    }

    /** Returns whether the cookie is Django's CSRF cookie, which its forms repeat. */
    const isCsrf = (pair) => pair.startsWith('__Host-csrftoken=');

    /** Returns the cookies that a reply sets and does not delete, for the next request. */
    const kept = ({ set }) => set.map(({ pair }) => pair).filter((pair) => !/=("")?$/.test(pair));

    /** Logs in a browser with these cookies: returns the replies and the site's login cookie. */
    async function logIn(planted = []) {
      const started = await send(site.start, planted.join('; '));
      const state = kept(started);
      assert.ok(state.length > 0, `${started.status} ${started.text}`);
      const back = await send(['GET', site.back], [...planted, ...state].join('; '));
      assert.ok([302, 303].includes(back.status), `${back.status} ${back.text}`);
      const login = kept(back).filter((pair) => !isCsrf(pair));
      assert.equal(login.length, 1, JSON.stringify(back.set));
      return { replies: [started, back], login: login[0] };
    }

    const isLoggedIn = async (cookie) => (await send(['GET', '/'], cookie)).text.includes('usr_0c0c');

    test('sets cookies that no other host can set', async () => {
      const { replies, login } = await logIn();
      for (const { pair, attributes } of replies.flatMap(({ set }) => set)) {
        assert.match(pair, /^__Host-/);
        for (const attribute of ['secure', ...(isCsrf(pair) ? [] : ['httponly']), 'path=/', 'samesite=lax']) assert.ok(attributes.includes(attribute), `${attribute}: ${pair} ${attributes}`);
        assert.ok(!attributes.some((attribute) => attribute.startsWith('domain')), `${pair} ${attributes}`);
      }
      assert.ok(await isLoggedIn(login));
    });

    test('ignores a login cookie that another host could have set', async () => {
      const { login } = await logIn();
      const plain = login.replace('__Host-', '');
      assert.ok(!(await isLoggedIn(plain)), 'a name without the prefix');
      assert.ok(!(await isLoggedIn(plain.replace(/^/, '__Secure-'))), 'a name with another prefix');
      assert.ok(await isLoggedIn(`${plain.split('=')[0]}=planted; ${login}`), 'with a planted cookie');
    });

    test('sets a new login cookie at each login', async () => {
      const [name] = (await logIn()).login.split('=');
      const planted = `${name}=planted`;
      const first = (await logIn([planted])).login;
      assert.notEqual(first, planted);
      assert.ok(!(await isLoggedIn(planted)));
      const second = (await logIn([first])).login;
      if (site.isOwn) assert.notEqual(second, first);
    });

    if (site.isOwn) {
      test('ignores duplicate login cookies', async () => {
        const [first, second] = [(await logIn()).login, (await logIn()).login];
        for (const cookies of [`${first}; ${second}`, `${second}; ${first}`, `${first}; ${first}`]) assert.ok(!(await isLoggedIn(cookies)), cookies);
        assert.ok(await isLoggedIn(first));
      });
    }
  });
}
