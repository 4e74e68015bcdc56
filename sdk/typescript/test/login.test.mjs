// vectors/return.json: the redirect to the login page, and the return.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { isLocalPath, loginHandlers, siteCookie } from '@signpost/sdk/login';
import { said, service, vectors } from './vectors.mjs';

const { cookie_secret, starts, returns, refused_options } = vectors('return');
const optionsOf = (vector, more) => ({
  domain: vector.domain, site: vector.site, path: vector.path, cookieSecret: cookie_secret, failedPath: vector.failed_path, startupCheck: false,
  signIn: () => undefined, currentUser: () => vector.current_user,
  clock: { now: () => vector.now * 1000, randomBytes: () => new Uint8Array(Buffer.from(vector.random ?? '', 'hex')) }, ...more,
});
const requestOf = (vector, route) =>
  new Request(`${vector.site}${vector.path}/${route}${vector.query && `?${vector.query}`}`, { headers: vector.cookies ? { cookie: vector.cookies } : {} });

function check(reply, { status, location, set_cookie }) {
  const got = [reply.status, reply.headers.get('location') ?? undefined, reply.headers.getSetCookie()];
  assert.deepEqual(got, [status, location, set_cookie ?? []]);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
}

/** Collects the calls of `onError` in `errors`, as the vectors have them. */
const collecting = (errors) => (error, step) => void errors.push({ code: error.code, ...(error.status && error.code !== 'invalid_response' && { status: error.status }), step });

for (const vector of starts) {
  test(`start: ${vector.name}`, async () => {
    const [sent, errors] = [[], []];
    const fetch = service((method, path, body) => {
      sent.push([method, path, body]);
      return said(201, { status: 'pending', challenge: '', qr_data: '', expires_at: '', created_at: '', ...vector.created });
    });
    const login = loginHandlers(new Signpost('k', { fetch }), optionsOf(vector, { onError: collecting(errors) }));
    check(await login.handle(requestOf(vector, vector.mode)), vector.expect);
    assert.deepEqual(errors, vector.expect.error ? [vector.expect.error] : []);
    assert.deepEqual(sent, vector.session ? [['POST', '/sessions', vector.session]] : []);
  });
}

for (const vector of returns) {
  test(`return: ${vector.name}`, async () => {
    const [sent, logins, errors] = [[], [], []];
    const fetch = service((method, path, body) => {
      sent.push({ id: decodeURIComponent(path.split('/')[2]), ...body });
      assert.deepEqual([method, path.split('/')[3]], ['POST', 'complete']);
      return said(vector.reply.status, vector.reply.json);
    });
    const signIn = ({ user, mode, next, session }) => void logins.push({ user: user.id, mode, next, method: session.method });
    const login = loginHandlers(new Signpost('k', { fetch, retries: 0 }), optionsOf(vector, { signIn, onError: collecting(errors) }));
    check(await login.handle(requestOf(vector, 'return')), vector.expect);
    assert.deepEqual(errors, vector.expect.error ? [vector.expect.error] : []);
    assert.deepEqual(sent, vector.completes ? [vector.completes] : []);
    assert.deepEqual(logins, vector.signs_in ? [vector.signs_in] : []);
  });
}

for (const { name, ...wrong } of refused_options) {
  test(`options: ${name}`, () => {
    const named = { cookie_secret: 'cookieSecret', failed_path: 'failedPath' };
    const options = Object.fromEntries(Object.entries(wrong).map(([member, value]) => [named[member] ?? member, value]));
    const good = optionsOf({ domain: 'shop.example', site: 'https://shop.example', path: '/signpost', now: 0 });
    assert.ok(loginHandlers(new Signpost('k'), good));
    assert.throws(() => loginHandlers(new Signpost('k'), { ...good, ...options }), { code: 'invalid_argument' });
  });
}

test('signIn sets its headers in each form', async () => {
  const vector = returns.find((some) => some.signs_in);
  const fetch = async () => said(200, vector.reply.json);
  for (const set of [['a=1', 'b=2'], { cookies: ['a=1', 'b=2'] }]) {
    const login = loginHandlers(new Signpost('k', { fetch }), optionsOf(vector, { signIn: async () => set }));
    const reply = await login.finish(requestOf(vector, 'return'));
    assert.deepEqual(reply.headers.getSetCookie(), [...vector.expect.set_cookie, 'a=1', 'b=2']);
  }
});

test('other addresses are ignored, other methods are rejected', async () => {
  const login = loginHandlers(new Signpost('k'), optionsOf({ domain: 'shop.example', site: 'https://shop.example', path: '/signpost', now: 0 }));
  for (const path of ['/', '/signpost', '/signpost/', '/signpost/login/', '/signpostlogin', '/signpost/constructor', '/login']) {
    assert.equal(await login.handle(new Request(`https://shop.example${path}`)), undefined, path);
  }
  for (const [method, path] of [['POST', 'login'], ['HEAD', 'return'], ['GET', 'events'], ['DELETE', 'register'], ['PUT', 'logout']]) {
    assert.equal((await login.handle(new Request(`https://shop.example/signpost/${path}`, { method }))).status, 405, path);
  }
});

test('local paths stay on the site', () => {
  for (const path of ['/', '/a?b#c', '/ä']) assert.ok(isLocalPath(path), path);
  for (const path of ['', 'a', '//a', '/\\a', '/\t/a', '/a\n', '/a\u0085', 'https://a', undefined, 7]) assert.ok(!isLocalPath(path), String(path));
});

test('the page URL is a web address, and is escaped', async () => {
  const vector = starts.find((some) => some.expect.location);
  const codes = [];
  const onError = ({ code }) => void codes.push(code);
  const start = (page_url) => loginHandlers(new Signpost('k', { fetch: async () => said(201, { id: 'sess_1', page_url }) }), optionsOf(vector, { onError })).start(requestOf(vector, 'login'));
  for (const wrong of [undefined, null, 5, {}, 'https://', 'data:text/html,', 'https://a.example/ b', 'https://a.example/\u0085']) {
    assert.equal((await start(wrong)).headers.get('location'), '/?login_error=unavailable', String(wrong));
    assert.equal(codes.pop(), 'invalid_response');
  }
  for (const [page, location] of [['http://[::1]:8080/a', 'http://[::1]:8080/a'], ['https://a.example/ü%20<', 'https://a.example/%C3%BC%20%3C']]) {
    assert.equal((await start(page)).headers.get('location'), location);
  }
});

test('a browser waits only a few seconds for the service', async () => {
  const vector = starts.find((some) => some.expect.location);
  for (const [after, calls, waits] of [['3', 3, [3, 3]], ['4', 1, []]]) {
    let asked = 0;
    const slept = [];
    const fetch = async () => ((asked += 1), said(503, { error: { code: 'unavailable', message: 'no', details: {} } }, { 'retry-after': after }));
    const signpost = new Signpost('k', { fetch, clock: { random: () => 0, sleep: async (seconds) => void slept.push(seconds) } });
    const reply = await loginHandlers(signpost, optionsOf(vector, { onError: () => undefined })).start(requestOf(vector, 'login'));
    assert.equal(reply.headers.get('location'), '/?login_error=unavailable');
    assert.deepEqual([asked, slept], [calls, waits]);
  }
});

test('two codes, and an unauthenticated session, are rejected', async () => {
  const vector = returns.find((some) => some.signs_in);
  const signIn = () => assert.fail('a user was logged in');
  for (const [query, json] of [[`${vector.query}&code=other`, vector.reply.json], [vector.query, { ...vector.reply.json, status: 'pending' }], [vector.query, { ...vector.reply.json, user: { id: 5 } }]]) {
    const login = loginHandlers(new Signpost('k', { fetch: async () => said(200, json) }), optionsOf(vector, { signIn }));
    const reply = await login.handle(requestOf({ ...vector, query }, 'return'));
    assert.match(reply.headers.get('location'), /login_error=refused&next=%2Faccount$/);
  }
});

test('a site cookie has the host prefix, and duplicates are rejected', () => {
  const cookie = siteCookie('https://shop.example', 'login', 60);
  assert.equal(cookie.set('a-b_c'), '__Host-login=a-b_c; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure');
  assert.equal(cookie.clear(), '__Host-login=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure');
  for (const [header, value] of [
    ['__Host-login=a', 'a'],
    ['x=y; __Host-login=a; login=b', 'a'],
    ['login=a', undefined],
    ['__Host-login=a; __Host-login=b', undefined],
    ['__Host-login=a; __Host-login=a', undefined],
    ['__Host-login=', undefined],
    ['', undefined],
    [undefined, undefined],
    [null, undefined],
  ]) {
    assert.equal(cookie.read(header), value, header);
  }
  const plain = siteCookie('http://localhost:9001', 'login', 60);
  assert.equal(plain.set('a'), 'login=a; Path=/; Max-Age=60; HttpOnly; SameSite=Lax');
  assert.deepEqual([plain.read('login=a'), plain.read('login=a; login=b'), plain.read('__Host-login=a')], ['a', undefined, undefined]);
  for (const value of ['a; Domain=example', 'a b', 'a"', 'a,b', 'a\\b', 'a\n', 'ü']) assert.throws(() => cookie.set(value), { code: 'invalid_argument' }, value);
  for (const name of ['', 'a b', 'a=b', 'a;b', 'ü']) assert.throws(() => siteCookie('https://shop.example', name, 60), { code: 'invalid_argument' }, name);
  assert.throws(() => siteCookie('https://shop.example/path', 'login', 60), { code: 'invalid_argument' });
});
