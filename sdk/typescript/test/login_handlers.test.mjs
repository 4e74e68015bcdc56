// vectors/login_handlers.json: requests of a browser, in order, with a scripted service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { loginHandlers } from '@signpost/sdk/login';
import { said, vectors } from './vectors.mjs';

const { site, path, domain, failed_path, cookie_secret, cases } = vectors('login_handlers');

/** The cookies of a browser, in the order in which they were first set. */
class Jar {
  #cookies = new Map();

  header() {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  replace(header) {
    this.#cookies = new Map(header.split('; ').filter(Boolean).map((pair) => pair.split(/=(.*)/s)));
  }

  store(lines) {
    for (const line of lines) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (/Max-Age=0(;|$)/.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}

/** Plays a case: the site, its service, and the browser. */
class Play {
  #calls = [];
  #jar = new Jar();

  constructor(options) {
    const clock = { now: () => (this.step.now ?? 1_700_000_000) * 1000, randomBytes: () => this.#random(), log: () => (this.seen.logs += 1) };
    this.login = loginHandlers(new Signpost('k', { retries: 0, fetch: (url, init) => this.#reply(url, init) }), {
      domain, site, path, cookieSecret: cookie_secret, failedPath: options.failed_path ?? failed_path, startupCheck: false, clock,
      signIn: (login) => void this.seen.signs_in.push(onTheWire(login)),
      ...(options.sign_out !== false && { signOut: () => void (this.seen.signs_out += 1) }),
      ...(options.has_current_user !== false && { currentUser: () => this.step.current_user }),
      ...(options.confirm_recent !== undefined && { confirmRecent: async () => options.confirm_recent }),
      onError: ({ code, status, requestId }, step) =>
        void this.seen.errors.push({ code, ...(status && { status }), ...(requestId && { request_id: requestId }), step }),
    });
  }

  async run(step) {
    Object.assign(this, { step, seen: { logs: 0, signs_in: [], signs_out: 0, errors: [] } });
    if (step.cookies !== undefined) this.#jar.replace(step.cookies);
    this.#calls = [...(step.service ?? [])];
    const { method, path, headers = {} } = step.request;
    const cookie = this.#jar.header();
    const reply = await this.login.handle(new Request(site + path, { method, headers: { ...headers, ...(cookie && { cookie }) } }));
    this.#jar.store(reply.headers.getSetCookie());
    assert.deepEqual(this.#calls, [], 'calls that were not made');
    return reply;
  }

  async #reply(url, { method, body }) {
    const { reply, ...expected } = this.#calls.shift() ?? {};
    assert.deepEqual({ method, path: url.pathname.replace('/sandbox/v1', ''), ...(body && { body: JSON.parse(body) }) }, expected);
    if (reply.lost) throw new TypeError('fetch failed');
    const headers = reply.request_id ? { 'x-request-id': reply.request_id } : {};
    return reply.text === undefined ? said(reply.status, reply.json, headers) : new Response(reply.text, { status: reply.status, headers });
  }

  #random() {
    return Uint8Array.from({ length: 32 }, (_, index) => (this.step.random ? Number.parseInt(this.step.random.slice(index * 2, index * 2 + 2), 16) : index));
  }
}

/** A login in the names of the vectors. */
function onTheWire({ user: { externalId, isNew, ...user }, mode, next, method }) {
  const more = { ...(externalId !== undefined && { external_id: externalId }), ...(isNew !== undefined && { is_new: isNew }) };
  return { user: { ...user, ...more }, mode, next, method };
}

function check(reply, seen, { status, location, headers = {}, set_cookie = [], errors = [], signs_in, signs_out = false, logs }) {
  assert.deepEqual([reply.status, reply.headers.get('location') ?? undefined, reply.headers.getSetCookie()], [status, location, set_cookie]);
  for (const [name, value] of Object.entries({ 'cache-control': 'no-store', ...headers })) assert.equal(reply.headers.get(name), value);
  assert.deepEqual(seen.errors, errors);
  assert.deepEqual(seen.signs_in, signs_in ? [signs_in] : []);
  assert.equal(seen.signs_out, signs_out ? 1 : 0);
  if (logs !== undefined) assert.equal(seen.logs, logs);
}

for (const { name, steps, ...options } of cases) {
  test(`login handlers: ${name}`, async () => {
    const play = new Play(options);
    for (const step of steps) {
      for (let time = 0; time < (step.times ?? 1); time += 1) check(await play.run(step), play.seen, step.expect);
    }
  });
}
