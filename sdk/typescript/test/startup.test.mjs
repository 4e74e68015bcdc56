// The check of the settings when a site starts: a line in the log for each fault, and no effect on the site.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { expressLogin } from '@signpost/sdk/express';
import { fastifyLogin } from '@signpost/sdk/fastify';
import { loginHandlers } from '@signpost/sdk/login';
import { walletHandlers } from '@signpost/sdk/wallet';
import { said } from './vectors.mjs';

const common = { domain: 'shop.example', site: 'https://shop.example', signIn: () => undefined };
const options = { ...common, cookieSecret: 'c'.repeat(32) };
const refused = (status, code) => said(status, { error: { code, message: 'no', details: {} } }, { 'x-request-id': 'req_1' });

/** Creates handlers for a service; returns the lines of their log after the check. */
async function started(reply) {
  const [lines, calls] = [[], []];
  const fetch = async (url) => (calls.push(url.pathname), reply(url.pathname));
  const login = loginHandlers(new Signpost('secret-key', { baseUrl: 'https://login.example/v1', fetch }), { ...options, clock: { log: (line) => lines.push(line) } });
  assert.equal(await login.handle(new Request('https://shop.example/')), undefined);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  return { lines, calls };
}

test('correct settings log nothing', async () => {
  assert.deepEqual(await started(() => said(200, { id: 'dom_1', domain: 'shop.example', handler: 'hosted' })), { lines: [], calls: ['/v1/domains/shop.example'] });
});

for (const [name, reply, expected] of [
  ['a wrong key', () => refused(401, 'invalid_api_key'), /https:\/\/login\.example\/v1 rejects the API key: .*\(no \(req_1\)\)$/],
  ['a key with another scope', () => refused(403, 'insufficient_scope'), /the API key has no scope auth/],
  ['a service that cannot be reached', () => Promise.reject(new TypeError('fetch failed')), /cannot be reached at the base URL https:\/\/login\.example\/v1/],
  ['a base URL of another program', () => new Response('<h1>Welcome</h1>'), /the base URL https:\/\/login\.example\/v1 is not that of a Signpost server/],
  ['a base URL without /v1', () => refused(404, 'not_found'), /it ends in \/v1 or \/sandbox\/v1/],
  ['an outage', () => refused(500, 'internal_error'), /replied with internal_error/],
  ['a domain with the handler direct', () => said(200, { id: 'dom_1', handler: 'direct' }), /requires the handler hosted/],
  ['an unknown domain', (path) => (path.endsWith('/domains') ? said(200, { domains: [] }) : refused(404, 'domain_not_found')), /shop\.example is not registered with this API key: run signpost domains add shop\.example/],
]) {
  test(`${name} is one line in the log`, async () => {
    const { lines } = await started(reply);
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0], expected);
    assert.match(lines[0], /^signpost: logins will fail: /);
    assert.doesNotMatch(lines[0], /secret-key/);
  });
}

test('a domain that is found only by its ID is accepted', async () => {
  const domain = { id: 'dom_1', domain: 'shop.example', handler: 'hosted' };
  const { lines } = await started((path) => (path.endsWith('/domains') ? said(200, { domains: [domain] }) : path.endsWith('dom_1') ? said(200, domain) : refused(404, 'domain_not_found')));
  assert.deepEqual(lines, []);
});

test('startupCheck: false sends nothing', async () => {
  const fetch = () => assert.fail('a call was sent');
  loginHandlers(new Signpost('k', { fetch }), { ...options, startupCheck: false });
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
});

test('an unknown option is an error with its name', async () => {
  const signpost = new Signpost('k');
  const walletOptions = { ...common, findUser: () => undefined, createUser: () => undefined };
  for (const create of [
    () => loginHandlers(signpost, { ...options, cookiesecret: 'c' }),
    () => expressLogin(signpost, { ...options, cookiesecret: 'c' }),
    () => fastifyLogin(signpost, { ...options, cookiesecret: 'c' }),
    () => walletHandlers(signpost, { ...walletOptions, cookiesecret: 'c' }),
    () => new Signpost('k', { cookiesecret: 'c' }),
    () => signpost.with({ cookiesecret: 'c' }),
  ]) {
    assert.throws(create, (error) => error.code === 'invalid_argument' && /unknown option cookiesecret/.test(error.message));
  }
  for (const call of [signpost.sessions.create({ domain: 'a' }, { idempotencykey: 'a' }), signpost.sessions.wait('sess_1', { timeOut: 1 }), signpost.users.create('dom_1', {}, { key: 'a' })]) {
    await assert.rejects(call, /unknown option (?:idempotencykey|timeOut|key) of /);
  }
  assert.throws(() => new Signpost('k', { baseURL: 'https://a.example/v1' }), /its options are baseUrl, timeout, retries, fetch, mcpUrl, mcpToken$/);
  assert.throws(() => loginHandlers(signpost, { ...options, constructor: 1 }), /unknown option constructor/);
});

test('an error of onError does not change the response', async (t) => {
  const lines = [];
  t.mock.method(console, 'error', (line) => lines.push(line));
  const signpost = new Signpost('k', { retries: 0, fetch: async () => refused(500, 'internal_error') });
  for (const onError of [() => { throw new Error('no'); }, async () => { throw new Error('no'); }, undefined]) {
    const login = loginHandlers(signpost, { ...options, startupCheck: false, onError });
    const reply = await login.handle(new Request('https://shop.example/signpost/login'));
    assert.equal(reply.headers.get('location'), '/?login_error=unavailable');
  }
  assert.deepEqual(lines, ['signpost: onError failed:', 'signpost: onError failed:', 'signpost: the step start failed:']);
});

test('cancelPending clears the states of a browser, for a logout of the site', async () => {
  const login = loginHandlers(new Signpost('k'), { ...options, startupCheck: false });
  const cookie = '__Host-signpost-0000000000000001=a; other=b; __Host-signpost-0000000000000002=c; signpost-0000000000000003=d';
  const cleared = login.cancelPending(new Request('https://shop.example/logout', { headers: { cookie } }));
  assert.deepEqual(cleared.map((line) => line.split(';')[0]), ['__Host-signpost-0000000000000001=', '__Host-signpost-0000000000000002=']);
});
