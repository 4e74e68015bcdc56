// Calls that are not in vectors/client.json: the stream, images, clients, and the locator with a token.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { Server } from './site.mjs';
import { said } from './vectors.mjs';

let server;
let signpost;
let domain;
before(async () => {
  server = await Server.start();
  signpost = new Signpost(server.key, { baseUrl: server.api });
  domain = await signpost.domains.create({ domain: 'localhost', webhook_url: 'http://localhost:9/wallet' });
  await signpost.domains.update(domain.id, { handler: 'hosted' });
});
after(() => server.close());

test('a session is followed until it is authenticated', async () => {
  const session = await signpost.sessions.create({ domain: 'localhost', mode: 'register' });
  const states = [];
  for await (const { id, status } of signpost.sessions.follow(session.id)) {
    states.push(status);
    assert.equal(id, session.id);
    if (status === 'pending') await signpost.sessions.simulate(session.id);
  }
  assert.deepEqual(states, ['pending', 'authenticated']);
  await assert.rejects(signpost.sessions.follow('sess_x').next(), { code: 'session_not_found', status: 404 });
});

test('the PNG of a session has its signature', async () => {
  const { id } = await signpost.sessions.create({ domain: 'localhost' });
  assert.deepEqual([...(await signpost.sessions.qrPng(id)).slice(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  await assert.rejects(signpost.sessions.qrPng('sess_x'), { code: 'session_not_found' });
});

test('a client of OpenID Connect is created, changed, rotated and deleted', async () => {
  const made = await signpost.clients.create(domain.id, { name: 'Wiki', redirect_uris: ['http://localhost:9002/callback'] });
  assert.match(made.client_secret, /^sgp_cs_/);
  const changed = await signpost.clients.update(domain.id, made.client_id, { name: 'Notes' });
  assert.deepEqual(await signpost.clients.get(domain.id, made.client_id), changed);
  assert.notEqual((await signpost.clients.rotateSecret(domain.id, made.client_id, { now: true })).client_secret, made.client_secret);
  const ids = [];
  for await (const { client_id } of signpost.clients.all(domain.id)) ids.push(client_id);
  assert.deepEqual(ids, [made.client_id]);
  await signpost.clients.delete(domain.id, made.client_id);
  await assert.rejects(signpost.clients.get(domain.id, made.client_id), { code: 'client_not_found' });
});

test('an ATM is reported without the API key, or with it', async () => {
  const sent = [];
  const fetch = async (url, { method, headers, body }) => {
    sent.push([method, url.pathname, headers.get('authorization'), JSON.parse(body)]);
    return said(201, { id: 'rep_1' });
  };
  const client = new Signpost('k', { fetch });
  await client.atms.report(7, { seen: 'gone' });
  await client.atms.report(7, { seen: 'gone' }, { asOperator: true });
  await client.atms.submit({ locations: [{ lat: 1, lon: 2 }] });
  assert.deepEqual(sent, [
    ['POST', '/sandbox/v1/atms/7/reports', null, { seen: 'gone' }],
    ['POST', '/sandbox/v1/atms/7/reports', 'Bearer k', { seen: 'gone' }],
    ['POST', '/sandbox/v1/atms/submissions', 'Bearer k', { locations: [{ lat: 1, lon: 2 }] }],
  ]);
});

test('the locator gets its own token, never the API key', async () => {
  const sent = [];
  const fetch = async (url, { headers }) => (sent.push([String(url), headers.get('authorization')]), said(200, { result: { structuredContent: { id: 7 } } }));
  await new Signpost('k', { fetch }).atms.get(7);
  const other = new Signpost('k', { fetch, mcpUrl: 'https://atm.example/mcp', mcpToken: 'token' });
  assert.equal(other.atms.mcpUrl, 'https://atm.example/mcp');
  await other.with({ retries: 0 }).atms.get(7);
  assert.deepEqual(sent, [['http://localhost:8080/mcp', null], ['https://atm.example/mcp', 'Bearer token']]);
  for (const options of [{ mcpUrl: '/mcp' }, { mcpUrl: 'ftp://a/mcp' }, { mcpUrl: 'https://me@a/mcp' }, { mcpToken: '' }]) {
    assert.throws(() => new Signpost('k', options), { code: 'invalid_argument' });
  }
  await assert.rejects(new Signpost('k', { mcpToken: 'a\nb', fetch: () => assert.fail('sent') }).atms.get(7), { code: 'invalid_argument' });
});

/** A service whose stream sends these texts, then ends, fails or waits. */
const streaming = (texts, end = (controller) => controller.close()) => {
  const start = async (controller) => {
    for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
    await end(controller);
  };
  const fetch = async (_url, { signal }) => {
    const body = new ReadableStream({ start: (controller) => (signal.addEventListener('abort', () => controller.error(signal.reason)), start(controller)) });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return new Signpost('k', { fetch, timeout: 0.05 }).sessions;
};

async function collected(states) {
  const all = [];
  for await (const state of states) all.push(state);
  return all;
}

test('a stream is parsed in any parts, with comments', async () => {
  const text = ': keep-alive\r\n\r\nevent: status\r\ndata: {"id":"sess_1",\r\ndata: "status":"pending"}\r\n\r\nevent: status\ndata:{"id":"é"}\n\n';
  const states = await collected(streaming([...text]).follow('sess_1'));
  assert.deepEqual(states, [{ id: 'sess_1', status: 'pending' }, { id: 'é' }]);
});

test('a stream that fails, pauses or is not one is an error', async () => {
  await assert.rejects(collected(streaming([], (controller) => controller.error(new TypeError('cut'))).follow('a')), { code: 'connection_failed' });
  await assert.rejects(collected(streaming(['data: {}\n\n'], () => new Promise(() => undefined)).follow('a')), { code: 'timeout' });
  await assert.rejects(collected(streaming(['data: {\n\n']).follow('a')), { code: 'invalid_response' });
  await assert.rejects(collected(streaming(['x'.repeat(70_000)]).follow('a')), { code: 'invalid_response' });
  await assert.rejects(collected(new Signpost('k', { fetch: async () => said(200, {}) }).sessions.follow('a')), { code: 'invalid_response' });
  await assert.rejects(collected(new Signpost('k', { fetch: async () => { throw new TypeError('no'); } }).sessions.follow('a')), { code: 'connection_failed' });
});

test('a stream ends with its signal, or when the caller stops', async () => {
  const stop = new AbortController();
  const following = collected(streaming(['data: {}\n\n'], () => new Promise(() => undefined)).follow('a', { signal: stop.signal }));
  stop.abort(new Error('the browser left'));
  await assert.rejects(following, /the browser left/);
  for await (const state of streaming(['data: {}\n\n'], () => new Promise(() => undefined)).follow('a')) {
    assert.deepEqual(state, {});
    break;
  }
});
