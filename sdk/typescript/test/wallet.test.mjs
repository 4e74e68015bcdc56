// vectors/receiver.json: responses of a site that receives wallets' answers. The service is simulated, with real signatures.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { walletHandlers } from '@signpost/sdk/wallet';
import { said, service, vectors } from './vectors.mjs';

const { now, origin, cases } = vectors('receiver');
const SPKI = { 66: '3036301006072a8648ce3d020106052b8104000a032200', 130: '3056301006072a8648ce3d020106052b8104000a034200' };

/** Returns whether the key made the signature; throws for an invalid key. */
function isSigned({ public_key, signature, challenge }) {
  const key = createPublicKey({ key: Buffer.from(SPKI[public_key.length] + public_key, 'hex'), format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(challenge), key, Buffer.from(signature, 'hex'));
}

const refused = (status, code, headers) => said(status, { error: { code, message: 'no', details: {} } }, headers);

/** A simulated service, as strict as the real service in these cases. */
function play({ busy }, sessions) {
  return service((method, path, body) => {
    if (busy) return refused(429, 'rate_limited', { 'retry-after': String(busy) });
    if (path === '/sessions') return said(201, sessions.shift());
    const valid = isSigned(body.message === undefined ? body : { ...body, challenge: body.message });
    if (path === '/verify') return said(200, { valid, public_key: body.public_key, message_hash: '' });
    return valid ? said(200, { id: 'sess_1', status: 'authenticated' }) : refused(406, 'invalid_signature');
  });
}

class Codes extends Map {
  remove(key) {
    return this.delete(key);
  }
}

/** Returns a site with the stored state of a case. */
async function siteOf({ sessions = [], users = [], codes = [], completed = [], seen = [], secrets, fails, bind_poll, busy }) {
  const store = new Codes();
  const shown = sessions.concat(codes).map((item, at) => ({
    id: item.sid ?? `sess_${at}`, challenge: item.challenge ?? `svc:login:example.com:1:${'A'.repeat(22)}`, qr_data: 'svc://auth?v=1', status: 'pending',
    created_at: '', expires_at: new Date((now + (item.state === 'expired' ? -1 : 300)) * 1000).toISOString(),
  }));
  const known = new Map(users.map((key) => [key, { key }]));
  const seenEvents = new Set(seen);
  const site = walletHandlers(new Signpost('k', { fetch: play({ busy }, [...shown]) }), {
    domain: 'example.com', site: origin, codes: store, webhookSecrets: secrets, bindPoll: bind_poll, clock: { now: () => now * 1000 },
    findUser: (key) => known.get(key),
    createUser: (key, device) => (known.has(key) ? undefined : known.set(key, { key, device }).get(key)),
    signIn: ({ user, publicKey }) => ((assert.equal(user.key, publicKey)), [`site=${publicKey.slice(-8)}`]),
    onEvent: () => (fails ? Promise.reject(new Error('the site fails')) : undefined),
    seenEvents,
    onError: () => undefined,
  });
  const cookies = {};
  const open = (mode, next) => {
    if (!busy) return site.showCode({ mode, next });
    // A client with a rate limit opened its session before it was limited.
    const calm = walletHandlers(new Signpost('k', { fetch: play({}, [shown[0]]) }), { domain: 'example.com', site: origin, codes: store, clock: { now: () => now * 1000 } });
    return calm.showCode({ mode, next });
  };
  for (const item of sessions) {
    const { sid } = await open(item.challenge.split(':')[1]);
    if (item.state === 'answered') store.remove(`challenge:${item.challenge}`);
    assert.ok(sid);
  }
  for (const item of codes) {
    const { sid, cookie } = await open('login', item.return_url);
    cookies[sid] = cookie.split(';')[0];
    if (item.state !== 'authenticated') continue;
    const key = `02${'ab'.repeat(32)}`;
    known.set(key, { key });
    store.set(`code:${sid}`, JSON.stringify({ ...JSON.parse(store.get(`code:${sid}`)), key }));
    if (!completed.includes(sid)) store.set(`login:${sid}`, '1');
  }
  if (fails) store.get = () => { throw new Error('the site fails'); };
  return { site, cookies };
}

function requestOf({ handler, request }, cookies) {
  const { sid, browser, origin: from, sec_fetch_site, headers = {}, body, text } = request;
  if (handler === 'poll') {
    const other = Object.values(cookies)[0]?.replace(/=.*/, `=${'A'.repeat(43)}`);
    const cookie = { shown: Object.values(cookies).join('; '), other, none: undefined }[browser];
    const given = { cookie, origin: from, 'sec-fetch-site': sec_fetch_site };
    const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return new Request(`${origin}/signpost/poll${sid === undefined ? '' : `?sid=${sid}`}`, { headers: fields });
  }
  const path = { login: 'wallet/login', register: 'wallet/register', event: 'events', classify: 'wallet/login' }[handler];
  return new Request(`${origin}/signpost/${path}`, { method: 'POST', headers, body: text ?? JSON.stringify(body) });
}

for (const vector of cases) {
  const skip = vector.held.allowed_sources && 'the addresses that events may come from are for the proxy in front to limit';
  test(`${vector.handler}: ${vector.name}`, { skip }, async () => {
    const { site, cookies } = await siteOf(vector.held);
    const reply = await site.handle(requestOf(vector, cookies));
    const body = await reply.json();
    if (vector.handler === 'classify') {
      // The request is handled as an answer: its challenge is unknown here.
      const post = { 404: 'answer', 200: 'event', 401: undefined }[reply.status];
      assert.equal(post, vector.expect.body.post, `${reply.status} ${JSON.stringify(body)}`);
      return;
    }
    assert.equal(reply.status, vector.expect.status, JSON.stringify(body));
    const want = Object.fromEntries(Object.entries(vector.expect.body).map(([name, value]) => [name, value === '<text>' ? body[name] || assert.fail(name) : value]));
    assert.deepEqual(body, want);
    if ('logs_in' in vector.expect) assert.equal(reply.headers.getSetCookie().length > 0, vector.expect.logs_in);
    if ('retry_after' in vector.expect) assert.equal(reply.headers.get('retry-after'), String(vector.expect.retry_after));
  });
}

const answers = cases.find((vector) => vector.name === 'a known user logs in');
const registration = cases.find((vector) => vector.name === 'a new user registers');

test('an answer needs one request, and a repeated answer none', async () => {
  const { site } = await siteOf(answers.held);
  assert.equal((await site.handle(requestOf(answers, {}))).status, 200);
  assert.equal((await site.handle(requestOf(answers, {}))).status, 404);
});

test('of two concurrent polls one logs in', async () => {
  const poll = cases.find((vector) => vector.name === 'the browser that was shown the code is logged in');
  const { site, cookies } = await siteOf(poll.held);
  const replies = await Promise.all([1, 2].map(() => site.handle(requestOf(poll, cookies))));
  assert.deepEqual(replies.map((reply) => reply.headers.getSetCookie().length).sort(), [0, 1]);
});

test('a refreshed code replaces the old one', async () => {
  const sessions = answers.held.sessions;
  const old = `svc:login:example.com:1:${'B'.repeat(22)}`;
  const base = { qr_data: 'svc://auth?v=1', expires_at: new Date((now + 300) * 1000).toISOString() };
  const fetch = service((method, path, body) => {
    if (path === '/sessions') return said(201, { id: 'sess_9', challenge: old, ...base });
    if (path.endsWith('/refresh')) return said(200, { id: 'sess_9', challenge: sessions[0].challenge, ...base });
    return said(200, { id: 'sess_9', status: 'authenticated' });
  });
  const options = { domain: 'example.com', site: origin, findUser: (key) => ({ key }), createUser: () => null, signIn: () => [], clock: { now: () => now * 1000 } };
  const site = walletHandlers(new Signpost('k', { fetch }), options);
  const { sid, cookie } = await site.showCode({ next: '//evil.example' });
  assert.match(cookie, /^__Host-code-[0-9a-f]{16}=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax; Secure$/);
  const from = (browser, headers = {}) => new Request(`${origin}/refresh`, { method: 'POST', headers: { ...(browser && { cookie: browser }), ...headers } });
  const shown = cookie.split(';')[0];
  // Without the cookie, the sid is not enough to replace a code.
  for (const other of [from(), from(`${shown.split('=')[0]}=${'A'.repeat(43)}`), from(shown, { origin: 'https://evil.example' })]) {
    assert.equal(await site.refreshCode(sid, other), undefined);
  }
  assert.equal((await site.refreshCode(sid, from(shown))).sid, sid);
  const stale = { ...answers, request: { body: { ...answers.request.body, challenge: old } } };
  assert.equal((await site.handle(requestOf(stale, {}))).status, 404);
  assert.equal((await site.handle(requestOf(answers, {}))).status, 200);
  assert.equal(await site.refreshCode('sess_0', from(shown)), undefined);
});

test('a user that was created concurrently is 409', async () => {
  const { site } = await siteOf(registration.held);
  assert.equal((await site.handle(requestOf(registration, {}))).status, 200);
  const store = { domain: 'example.com', site: origin, findUser: () => undefined, createUser: () => undefined, signIn: () => [], clock: { now: () => now * 1000 } };
  const base = { id: 'sess_1', qr_data: 'q', expires_at: new Date((now + 300) * 1000).toISOString() };
  const fetch = service((_method, path) => (path === '/sessions' ? said(201, { ...base, challenge: registration.held.sessions[0].challenge }) : said(200, base)));
  const late = walletHandlers(new Signpost('k', { fetch }), store);
  await late.showCode({ mode: 'register' });
  assert.equal((await late.handle(requestOf(registration, {}))).status, 409);
});

test('a code expires, and the oldest is evicted', async () => {
  let [clock, opened] = [now, 0];
  const fetch = async () => said(201, { id: `sess_${(opened += 1)}`, challenge: `svc:login:example.com:1:${opened}`, qr_data: 'q', expires_at: new Date((clock + 300) * 1000).toISOString() });
  const options = { domain: 'example.com', site: origin, findUser: () => 0, createUser: () => 0, signIn: () => [], clock: { now: () => clock * 1000 } };
  const site = walletHandlers(new Signpost('k', { fetch }), options);
  const status = async (sid) => (await site.handle(new Request(`${origin}/signpost/poll?sid=${sid}`))).status;
  const { sid } = await site.showCode();
  clock += 1799;
  assert.equal(await status(sid), 200);
  clock += 1;
  assert.equal(await status(sid), 404);
  const { sid: oldest } = await site.showCode();
  for (let at = 0; at < 15_000; at += 1) await site.showCode();
  assert.deepEqual([await status(oldest), await status(`sess_${opened}`)], [404, 200]);
});

test('a user may be any value but null', async () => {
  const base = { id: 'sess_1', qr_data: 'q', challenge: answers.held.sessions[0].challenge, expires_at: new Date((now + 300) * 1000).toISOString() };
  const fetch = service((_method, path) => (path === '/sessions' ? said(201, base) : said(200, { id: 'sess_1', status: 'authenticated' })));
  const options = { domain: 'example.com', site: origin, findUser: () => 0, createUser: () => 0, signIn: ({ user }) => [`user=${user}`], clock: { now: () => now * 1000 } };
  const site = walletHandlers(new Signpost('k', { fetch }), options);
  const { sid, cookie } = await site.showCode();
  assert.equal((await site.handle(requestOf(answers, {}))).status, 200);
  const poll = new Request(`${origin}/signpost/poll?sid=${sid}`, { headers: { cookie: cookie.split(';')[0] } });
  assert.deepEqual((await site.handle(poll)).headers.getSetCookie(), ['user=0']);
});

test('a signature by another key is 406, with or without a user', async () => {
  const signedByAnother = cases.find((vector) => vector.name === 'signed by another key').request;
  const { site } = await siteOf({ ...answers.held, users: [] });
  assert.equal((await site.handle(requestOf({ handler: 'login', request: signedByAnother }, {}))).status, 406);
  const body = { ...registration.request.body, signature: signedByAnother.body.signature };
  const { site: other } = await siteOf({ ...registration.held, users: [body.public_key] });
  assert.equal((await other.handle(requestOf({ handler: 'register', request: { body } }, {}))).status, 406);
});

test('a rate limit is reported to the wallet at once', async () => {
  let asked = 0;
  const base = { id: 'sess_1', qr_data: 'q', challenge: answers.held.sessions[0].challenge, expires_at: new Date((now + 300) * 1000).toISOString() };
  const fetch = service((_method, path) => (path === '/sessions' ? said(201, base) : ((asked += 1), refused(429, 'rate_limited', { 'retry-after': '0' }))));
  const options = { domain: 'example.com', site: origin, findUser: () => 1, createUser: () => 1, signIn: () => [], clock: { now: () => now * 1000 } };
  const site = walletHandlers(new Signpost('k', { fetch }), options);
  await site.showCode();
  assert.equal((await site.handle(requestOf(answers, {}))).status, 429);
  assert.equal(asked, 1);
});

const polled = cases.find((vector) => vector.name === 'the browser that was shown the code is logged in');

test('a partial or empty cookie is rejected', async () => {
  const { site, cookies } = await siteOf(polled.held);
  const [name, value] = cookies.sess_1.split('=');
  for (const wrong of ['', value.slice(0, 10), `${value}A`, value + value]) {
    const reply = await site.handle(requestOf(polled, { sess_1: `${name}=${wrong}` }));
    assert.deepEqual(await reply.json(), { status: 'pending' }, wrong);
  }
});

test('a failed sign-in is retried at the next poll', async () => {
  let fails = true;
  const base = { id: 'sess_1', qr_data: 'q', challenge: answers.held.sessions[0].challenge, expires_at: new Date((now + 300) * 1000).toISOString() };
  const fetch = service((_method, path) => (path === '/sessions' ? said(201, base) : said(200, base)));
  const signIn = () => (fails ? Promise.reject(new Error('no database')) : ['site=1']);
  const options = { domain: 'example.com', site: origin, findUser: () => 1, createUser: () => 1, signIn, onError: () => undefined, clock: { now: () => now * 1000 } };
  const site = walletHandlers(new Signpost('k', { fetch }), options);
  const { sid, cookie } = await site.showCode();
  await site.handle(requestOf(answers, {}));
  const poll = () => site.handle(new Request(`${origin}/signpost/poll?sid=${sid}`, { headers: { cookie: cookie.split(';')[0] } }));
  assert.equal((await poll()).status, 500);
  fails = false;
  assert.deepEqual((await poll()).headers.getSetCookie(), ['site=1']);
});
