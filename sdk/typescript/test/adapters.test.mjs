// Express and Fastify: bodies that were read before, mount paths, and other parts of a response.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import express from 'express';
import fastify from 'fastify';
import { Signpost } from '@signpost/sdk';
import { expressLogin, expressWallet } from '@signpost/sdk/express';
import { fastifyLogin, fastifyWallet } from '@signpost/sdk/fastify';
import { visit } from './site.mjs';
import { said } from './vectors.mjs';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
// Not as a serializer would write it, because the signature covers these bytes.
const event = '{ "event":"account.closed", "id":"evt_1", "timestamp":"2026-11-22T00:00:00Z", "session_id":"", "data":{"é":1} }';
const headers = { 'content-type': 'application/json', 'x-svc-signature': createHmac('sha256', secret).update(event).digest('hex') };
const fetchOf = async () => said(201, { id: 'sess_1', page_url: 'https://login.example/login/sess_1' });
const signpost = new Signpost('k', { fetch: fetchOf });
const common = { domain: 'localhost', site: 'http://localhost:1', webhookSecrets: secret, signIn: () => undefined };
const options = { ...common, cookieSecret: 'c'.repeat(32), startupCheck: false };
const walletOptions = { ...common, findUser: () => undefined, createUser: () => undefined };
/** Opens a page like a browser that reaches the site through a proxy. */
const open = (url, method = 'GET', more = {}) => visit(url, { method, headers: { host: 'localhost:1', ...more } });

async function listen(t, handler) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

const post = async (origin, path = '/signpost/events', body = event) => {
  const reply = await fetch(origin + path, { method: 'POST', headers, body });
  return [reply.status, await reply.text()];
};

/** An Express application that returns its errors. */
function application(...parts) {
  const app = express();
  for (const part of parts) app.use(...[part].flat());
  app.use((error, _request, response, _next) => response.status(500).send(`${error.code}: ${error.message}`));
  return app;
}

test('Express: event bodies are read raw, before and after parsers that keep the bytes', async (t) => {
  const received = [];
  const login = () => expressLogin(signpost, { ...options, onEvent: ({ data }) => received.push(data) });
  for (const app of [
    application(login(), express.json()),
    application(express.raw({ type: '*/*' }), login()),
    application(express.text({ type: '*/*' }), login()),
    application(['/other', express.json()], login()),
  ]) {
    assert.deepEqual(await post(await listen(t, app)), [200, '{"status":"received"}']);
  }
  assert.deepEqual(received, Array.from({ length: 4 }, () => ({ é: 1 })));
});

test('Express: a parsed body is an error with a remedy', async (t) => {
  for (const adapter of [expressLogin(signpost, options), expressWallet(signpost, walletOptions)]) {
    const origin = await listen(t, application(express.json(), adapter));
    for (const path of ['/signpost/events', ...('showCode' in adapter ? ['/signpost/wallet/login'] : [])]) {
      const [status, text] = await post(origin, path);
      assert.equal(status, 500);
      assert.match(text, /^parsed_body: .*before express\.json\(\)/);
    }
  }
});

test('Express: handlers work below a path, with other routes and cookies', async (t) => {
  const login = expressLogin(signpost, { ...options, path: '/auth/wallet' });
  const set = (_request, response, next) => (response.cookie('before', '1'), next());
  const origin = await listen(t, application(set, ['/auth', login], [express.json()], (request, response) => response.json([request.path, request.body ?? null])));
  const reply = await open(`${origin}/auth/wallet/login?next=/a`);
  assert.deepEqual([reply.status, reply.headers.get('location')], [303, 'https://login.example/login/sess_1']);
  assert.deepEqual(reply.headers.getSetCookie().map((cookie) => cookie.split('=')[0].slice(0, 9)), ['before', 'signpost-']);
  assert.deepEqual(await post(origin, '/auth/wallet/elsewhere', '{"a":1}'), [200, '["/auth/wallet/elsewhere",{"a":1}]']);
  assert.deepEqual(await post(origin, '/auth/wallet/login', '{"a":1}').then(([status]) => status), 405);
});

test('Express: a long body is 413', async (t) => {
  const origin = await listen(t, application(expressLogin(signpost, options)));
  assert.equal((await post(origin, '/signpost/events', 'x'.repeat(65 * 1024)))[0], 413);
});

/** An Express and a Fastify site with these options and this service. */
async function sites(t, more, service = signpost) {
  const app = fastify();
  app.register(fastifyLogin(service, { ...options, ...more }));
  t.after(() => app.close());
  return [await listen(t, application(expressLogin(service, { ...options, ...more }))), await app.listen({ port: 0, host: '127.0.0.1' })];
}

test('a failing service is a redirect, and its error goes to onError', async (t) => {
  for (const status of [401, 429, 500]) {
    const failing = new Signpost('k', { retries: 0, fetch: async () => said(status, { error: { code: 'internal_error', message: 'no', details: {} } }, { 'x-request-id': 'req_1' }) });
    const errors = [];
    for (const origin of await sites(t, { onError: (error, step) => errors.push([error.status, error.requestId, step]) }, failing)) {
      const reply = await open(`${origin}/signpost/login?next=/cart`);
      assert.deepEqual([reply.status, reply.headers.get('location')], [303, '/?login_error=unavailable&next=%2Fcart']);
      assert.equal((await open(`${origin}/signpost/login`, 'GET', { cookie: 'signpost-unavailable=1' })).status, 503);
    }
    assert.deepEqual(errors, Array.from({ length: 4 }, () => [status, 'req_1', 'start']));
  }
});

test('errors of the site go on to the framework', async (t) => {
  const currentUser = () => { throw new Error('the database is gone'); };
  for (const origin of await sites(t, { currentUser })) assert.equal((await open(`${origin}/signpost/link`)).status, 500);
});

test('the functions of the site get the request and the response of the framework', async (t) => {
  const names = [];
  const noted = (name, result) => (request, response) => (names.push([name, typeof (request.raw ?? request).url, typeof (response.raw ?? response).writeHead]), result);
  const more = { currentUser: noted('currentUser', 'usr_1'), confirmRecent: noted('confirmRecent', false), signOut: noted('signOut', ['a=b']) };
  const service = new Signpost('k', { fetch: async () => said(200, { id: 'usr_1', credentials: [] }) });
  for (const origin of await sites(t, more, service)) {
    assert.equal((await open(`${origin}/signpost/link`)).headers.get('location'), '/?login_error=refused');
    for (const method of ['GET', 'POST']) assert.deepEqual((await open(`${origin}/signpost/logout`, method)).headers.getSetCookie(), ['a=b']);
  }
  const called = ['currentUser', 'confirmRecent', 'signOut', 'signOut'].map((name) => [name, 'string', 'function']);
  assert.deepEqual(names, [...called, ...called]);
});

test('another host is redirected to the site, and the log shows it once', async (t) => {
  const lines = [];
  for (const origin of await sites(t, { clock: { log: (line) => lines.push(line) } })) {
    const reply = await open(`${origin}/signpost/login?next=/cart`, 'GET', { host: '127.0.0.1:1' });
    assert.equal(reply.headers.get('location'), 'http://localhost:1/signpost/login?next=%2Fcart&signpost_host=1');
    assert.equal((await open(`${origin}/signpost/login?signpost_host=1`, 'GET', { host: '127.0.0.1:1' })).headers.get('location'), 'https://login.example/login/sess_1');
  }
  assert.equal(lines.length, 4);
  assert.match(lines[1], /proxy_set_header Host/);
});

test('the host of an HTTP/2 request is its authority', async () => {
  const response = { headers: {}, setHeader: (name, value) => (response.headers[name] = value), appendHeader: () => undefined, end: () => undefined };
  const request = { method: 'GET', url: '/signpost/login', headers: { ':authority': 'www.localhost:1', ':path': '/signpost/login' } };
  await expressLogin(signpost, { ...options, clock: { log: () => undefined } })(request, response, assert.fail);
  assert.equal(response.headers.location, 'http://localhost:1/signpost/login?signpost_host=1');
});

test('a script and a prefetch start no login', async (t) => {
  for (const origin of await sites(t, {})) {
    const reply = await fetch(`${origin}/signpost/login`, { redirect: 'manual' }); // Sec-Fetch-Mode: cors
    assert.deepEqual([reply.status, reply.headers.get('cache-control'), await reply.text()], [204, 'no-store', '']);
    assert.equal((await open(`${origin}/signpost/login`, 'GET', { 'sec-purpose': 'prefetch' })).status, 204);
  }
});

test('node:http can call the middleware', async (t) => {
  const login = expressLogin(signpost, options);
  const origin = await listen(t, (request, response) => login(request, response, (error) => response.end(error ? 'failed' : 'next')));
  assert.equal((await post(origin))[0], 200);
  assert.equal(await (await fetch(`${origin}/`)).text(), 'next');
});

test('Fastify: event bodies are read raw, other bodies are parsed', async (t) => {
  const app = fastify();
  app.register(fastifyLogin(signpost, options));
  app.register(fastifyWallet(signpost, { ...walletOptions, path: '/own' }));
  app.post('/echo', async (request) => request.body);
  t.after(() => app.close());
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  assert.deepEqual(await post(origin), [200, '{"status":"received"}']);
  assert.deepEqual(await post(origin, '/echo', '{ "a": 1 }'), [200, '{"a":1}']);
  assert.equal((await post(origin, '/signpost/events', 'x'.repeat(65 * 1024)))[0], 413);
  assert.equal((await post(origin, '/own/wallet/login', '{}'))[0], 401);
  assert.equal((await fetch(`${origin}/own/wallet/login`, { method: 'POST', body: '{}' })).status, 400);
  assert.equal((await fetch(`${origin}/signpost/events`)).status, 405);
  assert.equal((await fetch(`${origin}/signpost/login`, { method: 'HEAD' })).status, 405);
  const reply = await open(`${origin}/signpost/login`);
  assert.deepEqual([reply.status, reply.headers.getSetCookie().length], [303, 1]);
});

test('Fastify: a body that was read before is an error', async (t) => {
  const app = fastify();
  app.addHook('preHandler', async (request) => { if (request.body) request.body = JSON.parse(request.body); });
  app.register(fastifyLogin(signpost, options));
  t.after(() => app.close());
  const [status, text] = await post(await app.listen({ port: 0, host: '127.0.0.1' }));
  assert.equal(status, 500);
  assert.match(text, /register the plugin/);
});

/** Returns the server's data until it closes the connection, or all data once it pauses; `send` writes more and more. */
async function talk(origin, head, more) {
  const socket = connect(new URL(origin).port, '127.0.0.1');
  let [text, writing] = ['', true];
  socket.on('data', (part) => (text += part)).on('error', () => undefined);
  const closed = once(socket, 'close').then(() => (writing = false));
  socket.write(head);
  while (writing && more) {
    if (!socket.write(more)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
    await new Promise(setImmediate);
  }
  await closed;
  return text;
}

/** Both frameworks, with a fallback page and wallet handlers. */
async function both(t) {
  const app = application(expressLogin(signpost, options), expressWallet(signpost, { ...walletOptions, path: '/own' }));
  const server = fastify();
  server.register(fastifyLogin(signpost, options));
  server.register(fastifyWallet(signpost, { ...walletOptions, path: '/own' }));
  t.after(() => server.close());
  return [await listen(t, app), await server.listen({ port: 0, host: '127.0.0.1' })];
}

test('an endless body gets 413, and the connection is closed', async (t) => {
  for (const origin of await both(t)) {
    for (const path of ['/signpost/events', '/own/wallet/login']) {
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const text = await talk(origin, head, `2000\r\n${'x'.repeat(0x2000)}\r\n`);
      assert.match(text, /^HTTP\/1\.1 413 /, `${origin}${path}`);
      assert.match(text, /\r\nconnection: close\r\n/i, `${origin}${path}`);
    }
  }
});

test('a body in minimal parts is read completely', async (t) => {
  for (const origin of await both(t)) {
    const sent = ask(`${origin}/signpost/events`, { method: 'POST', headers });
    const replied = once(sent, 'response');
    for (const letter of Buffer.from(event)) sent.write(Buffer.of(letter));
    sent.end();
    const [reply] = await replied;
    assert.equal(reply.resume().statusCode, 200);
  }
});

test('an unknown method or address is rejected without an error', async (t) => {
  for (const origin of await both(t)) {
    for (const [line, statuses] of [
      ['TRACE /signpost/login', [404, 405]], ['OPTIONS /signpost/login', [404, 405]], ['DELETE /signpost/events', [404, 405]],
      ['GET /signpost/%6cogin', [404]], ['GET http://evil.example/signpost/login', [404]], ['GET //evil.example/signpost/login', [404]],
      ['GET /signpost/login/../../x', [404]], ['GET /signpost/nowhere', [404]],
    ]) {
      const text = await talk(origin, `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      assert.ok(statuses.includes(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])), `${origin} ${line}: ${text.slice(0, 200)}`);
    }
  }
});

test('refreshCode requires the browser that was shown the code', async (t) => {
  const base = { id: 'sess_1', qr_data: 'q', expires_at: new Date(Date.now() + 300_000).toISOString() };
  let made = 0;
  const service = new Signpost('k', { fetch: async () => said(200, { ...base, challenge: `svc:login:localhost:1:${(made += 1)}` }) });
  const [one, two] = [expressWallet(service, walletOptions), fastifyWallet(service, walletOptions)];
  for (const [site, wrap] of [[one, (raw) => raw], [two, (raw) => ({ raw })]]) {
    const { sid, cookie } = await site.showCode();
    const from = (headers) => site.refreshCode(sid, wrap({ method: 'POST', url: '/refresh', headers }));
    assert.equal(await from({}), undefined);
    assert.equal((await from({ cookie: cookie.split(';')[0] })).sid, sid);
  }
});
