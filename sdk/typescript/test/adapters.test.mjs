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
import { said } from './vectors.mjs';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
// Not as a serializer would write it, because the signature covers these bytes.
const event = '{ "event":"account.closed", "id":"evt_1", "timestamp":"2026-11-22T00:00:00Z", "session_id":"", "data":{"é":1} }';
const headers = { 'content-type': 'application/json', 'x-svc-signature': createHmac('sha256', secret).update(event).digest('hex') };
const fetchOf = async () => said(201, { id: 'sess_1', page_url: 'https://login.example/login/sess_1' });
const signpost = new Signpost('k', { fetch: fetchOf });
const options = { domain: 'localhost', site: 'http://localhost:1', cookieSecret: 'c'.repeat(32), webhookSecrets: secret, signIn: () => undefined };
const walletOptions = { ...options, findUser: () => undefined, createUser: () => undefined };

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
  const reply = await fetch(`${origin}/auth/wallet/login?next=/a`, { redirect: 'manual' });
  assert.deepEqual([reply.status, reply.headers.get('location')], [303, 'https://login.example/login/sess_1']);
  assert.deepEqual(reply.headers.getSetCookie().map((cookie) => cookie.split('=')[0].slice(0, 9)), ['before', 'signpost-']);
  assert.deepEqual(await post(origin, '/auth/wallet/elsewhere', '{"a":1}'), [200, '["/auth/wallet/elsewhere",{"a":1}]']);
  assert.deepEqual(await post(origin, '/auth/wallet/login', '{"a":1}').then(([status]) => status), 405);
});

test('Express: a long body and a failing service are errors', async (t) => {
  const failing = new Signpost('k', { fetch: async () => said(500, { error: { code: 'internal_error', message: 'no', details: {} } }) });
  const origin = await listen(t, application(expressLogin(failing, options)));
  assert.equal((await post(origin, '/signpost/events', 'x'.repeat(65 * 1024)))[0], 413);
  assert.match(await (await fetch(`${origin}/signpost/login`)).text(), /^internal_error/);
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
  const reply = await fetch(`${origin}/signpost/login`, { redirect: 'manual' });
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
