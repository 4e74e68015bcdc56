// vectors/client.json against sdk/replies.py: requests, results, and retries.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { Signpost, SignpostError } from '@signpost/sdk';
import { ROOT, said, vectors } from './vectors.mjs';

const { key, cases } = vectors('client');
const NAMES = {
  'domains.send_test_event': 'sendTestEvent', 'users.delete_all': 'deleteAll', 'users.delete_credential': 'deleteCredential',
  'users.sign_ins': 'signIns', 'users.end_sign_in': 'endSignIn', 'users.end_sign_ins': 'endSignIns',
  'deliveries.retry_all': 'retryAll', 'atms.list_by_city': 'listByCity', 'atms.get_many': 'getMany', 'sessions.qr_svg': 'qrSvg',
};
let ports;
let replies;

before(async () => {
  const args = ['sdk/replies.py', 'vectors/client.json'].map((file) => new URL(file, ROOT).pathname);
  replies = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: replies.stdout }), 'line');
  ports = JSON.parse(line);
});
after(() => replies.stdin.end());

/** Calls the method like a TypeScript program. */
function run(signpost, call, args) {
  const [group, name] = call.split('.');
  const { id, domain_id, user, credential, sign_in, wait, timeout, atm_id, idempotency_key, ...rest } = args;
  const body = Object.keys(rest).length > 0 ? [rest] : [];
  if (call === 'verify') return signpost.verify(args);
  if (name === 'all') return collected(signpost[group].all(...(domain_id ? [domain_id] : []), ...body));
  const method = signpost[group][NAMES[call] ?? name].bind(signpost[group]);
  if (call === 'atms.get') return method(atm_id);
  if (call === 'atms.get_many') return method(args.atm_ids);
  if (group === 'atms') return method(args);
  const ids = [id, domain_id, ...(group === 'users' ? [user] : []), credential, sign_in].filter((id) => id !== undefined);
  if (call === 'sessions.create') return method({ ...rest, ...(user && { user }) }, { idempotencyKey: idempotency_key });
  if (call === 'users.create') return method(...ids, rest, { idempotencyKey: idempotency_key });
  if (wait !== undefined) return method(...ids, { wait });
  if (timeout !== undefined) return method(...ids, { timeout });
  return method(...ids, ...body);
}

async function collected(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

const sorted = (path) => {
  const url = new URL(path, 'http://x');
  url.searchParams.sort();
  return url.pathname + url.search;
};

function checkRequests(want, seen, vector) {
  assert.deepEqual(seen.map(({ method, path }) => [method, sorted(path)]), want.map(({ method, path }) => [method, sorted(path)]));
  for (const [at, { body, has = [], lacks = [], headers = {}, path }] of want.entries()) {
    const got = seen[at];
    if (body !== undefined) assert.deepEqual(got.body, body);
    if (path !== '/mcp') assert.equal(got.headers.authorization, `Bearer ${key}`);
    assert.match(got.headers['user-agent'], /^signpost-sdk-typescript\/\d/);
    for (const name of has) assert.ok(got.headers[name], name);
    for (const name of lacks) assert.equal(got.headers[name], undefined, name);
    for (const [name, value] of Object.entries(headers)) assert.equal(got.headers[name], value);
  }
  if (vector.same_idempotency_key) {
    const keys = new Set(seen.map((request) => request.headers['idempotency-key']));
    assert.ok(keys.size === 1 && !keys.has(undefined) && !keys.has(''), [...keys].join());
  }
}

function checkError(error, want) {
  assert.ok(error instanceof SignpostError, String(error));
  const { code, status, details, requestId, retryAfter } = error;
  assert.equal(code, want.code, error.message);
  assert.equal(status, want.status);
  if (want.details) assert.deepEqual({ ...details, ...want.details }, { ...details });
  if ('request_id' in want) assert.equal(requestId, want.request_id);
  if (want.request_id) assert.ok(error.message.endsWith(`(${want.request_id})`));
  if ('retry_after' in want) assert.equal(retryAfter, want.retry_after);
  assert.ok(!inspect(error, { depth: 9 }).includes(key) && !JSON.stringify(error).includes(key), 'the key shows');
}

for (const vector of cases) {
  test(vector.name, async () => {
    const waits = [];
    const now = vector.now === undefined ? {} : { now: () => Date.parse(vector.now) };
    const clock = { ...now, sleep: async (seconds) => waits.push(seconds * 1000), pause: async () => undefined };
    const base = `http://127.0.0.1:${ports[vector.name]}`;
    const signpost = new Signpost(key, { baseUrl: `${base}/sandbox/v1/`, clock, ...vector.options });
    const result = await run(signpost, vector.call, vector.arguments).catch((error) => error);
    if (vector.error) checkError(result, vector.error);
    else if ('result' in vector) assert.deepEqual(vector.result === null ? undefined : stripped(result, vector.result), vector.result ?? undefined);
    else if (vector.result_has) assert.deepEqual({ ...result, ...vector.result_has }, result);
    checkRequests(vector.requests, await (await fetch(`${base}/seen`)).json(), vector);
    if (!vector.waits) return;
    assert.equal(waits.length, vector.waits.length, `waited ${waits}`);
    vector.waits.forEach(([from, to], at) => assert.ok(waits[at] >= from && waits[at] <= to, `waited ${waits}`));
  });
}

/** Returns a result without its additional members, which must be present. */
function stripped(got, want) {
  if (Array.isArray(want)) return got.map((item, at) => stripped(item, want[at]));
  if (typeof want !== 'object' || want === null || typeof got !== 'object') return got;
  const known = Object.entries(got).filter(([name]) => name in want);
  assert.ok(known.length === Object.keys(got).length || Object.keys(got).some((name) => name.startsWith('later')), Object.keys(got).join());
  return Object.fromEntries(known.map(([name, value]) => [name, stripped(value, want[name])]));
}

test('a key with a line break is rejected without being printed', async () => {
  const signpost = new Signpost('svc_test_secret\nsecond', { fetch: () => assert.fail('sent') });
  const error = await signpost.domains.list().catch((error) => error);
  assert.equal(error.code, 'invalid_argument');
  assert.doesNotMatch(inspect(error, { depth: 9 }), /secret/);
  assert.doesNotMatch(inspect(signpost, { depth: 9, showHidden: true }) + JSON.stringify(signpost), /secret/);
});

test('invalid options are rejected by the constructor', () => {
  for (const baseUrl of ['', 'localhost:8080', 'ftp://a', 'http://a/v1?b', 'http://a/v1#b', 'http://me@a/v1']) {
    assert.throws(() => new Signpost('k', { baseUrl }), { code: 'invalid_argument' }, baseUrl);
  }
  for (const options of [{ timeout: 0 }, { timeout: 30_000 }, { timeout: Number.NaN }, { retries: -1 }, { retries: 1.5 }]) {
    assert.throws(() => new Signpost('k', options), { code: 'invalid_argument' }, JSON.stringify(options));
  }
  assert.throws(() => new Signpost(undefined), { code: 'invalid_argument' });
  assert.ok(new Signpost(''));
});

test('a missing reply is a time-out, and is retried', async () => {
  let sent = 0;
  const never = (_url, { signal }) => {
    sent += 1;
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const signpost = new Signpost('k', { fetch: never, timeout: 0.02, retries: 1, clock: { sleep: async () => undefined } });
  const error = await signpost.domains.list().catch((error) => error);
  assert.deepEqual([error.code, error.status, sent], ['timeout', undefined, 2]);
});

test('other options keep the API key', async () => {
  let sent;
  const signpost = new Signpost('k', { fetch: async (_url, init) => ((sent = init), said(503, { error: { code: 'unavailable', message: 'no', details: {} } })) });
  await assert.rejects(signpost.with({ retries: 0 }).domains.list(), { code: 'unavailable' });
  assert.equal(sent.headers.get('authorization'), 'Bearer k');
});

test('pages are read one after the other', async () => {
  const pages = { '': { users: [{ id: 'a' }, { id: 'b' }], next_cursor: 'c1' }, c1: { users: [], next_cursor: 'c2' }, c2: { users: [{ id: 'c' }] } };
  const asked = [];
  const fetch = async (url) => {
    asked.push(url.search);
    return said(200, pages[url.searchParams.get('cursor') ?? '']);
  };
  const users = [];
  for await (const user of new Signpost('k', { fetch }).users.all('dom_1')) users.push(user.id);
  assert.deepEqual([users, asked], [['a', 'b', 'c'], ['?limit=100', '?limit=100&cursor=c1', '?limit=100&cursor=c2']]);
});

test('wait ends with its timeout, and pauses between requests', async () => {
  let [now, asked] = [0, 0];
  const pending = async () => ((asked += 1), (now += 10), said(200, { id: 'sess_1', status: 'pending' }));
  const clock = { now: () => now, pause: async (seconds) => { now += seconds * 1000; } };
  const session = await new Signpost('k', { fetch: pending, clock }).sessions.wait('sess_1', { timeout: 5 });
  assert.equal(session.status, 'pending');
  assert.ok(asked >= 5 && asked <= 6, String(asked));
});

test('an aborted signal ends the wait', async () => {
  const never = (_url, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const stop = new AbortController();
  const waiting = new Signpost('k', { fetch: never }).sessions.wait('sess_1', { signal: stop.signal });
  stop.abort(new Error('the browser left'));
  await assert.rejects(waiting, /the browser left/);
});

test('a reply of more than 4 MiB is not read to its end', async () => {
  const part = new TextEncoder().encode(' '.repeat(1 << 20));
  let parts = 0;
  const body = new ReadableStream({ pull: (stream) => ((parts += 1), stream.enqueue(part), parts === 100 && stream.close()) });
  const error = await new Signpost('k', { fetch: async () => new Response(body) }).domains.list().catch((error) => error);
  assert.deepEqual([error.code, error.status], ['invalid_response', 200]);
  assert.ok(parts < 8, String(parts));
});

test('a deletion has an empty reply, and a QR code is an image', async () => {
  const html = () => new Response('<html>Log in to this network</html>', { status: 200, headers: { 'content-type': 'text/html' } });
  const signpost = new Signpost('k', { fetch: async () => html() });
  await assert.rejects(signpost.sessions.cancel('sess_1'), { code: 'invalid_response', status: 200 });
  await assert.rejects(signpost.users.deleteAll('dom_1'), { code: 'invalid_response', status: 200 });
  await assert.rejects(signpost.sessions.qrSvg('sess_1'), { code: 'invalid_response', status: 200 });
  const drawn = new Signpost('k', { fetch: async () => new Response('<svg/>', { headers: { 'content-type': 'image/svg+xml; charset=utf-8' } }) });
  assert.equal(await drawn.sessions.qrSvg('sess_1'), '<svg/>');
});

test('an unpaired surrogate is rejected in an ID', async () => {
  const signpost = new Signpost('k', { fetch: async () => assert.fail('it was sent') });
  await assert.rejects(signpost.sessions.get('sess_\ud800'), { code: 'invalid_argument' });
  await assert.rejects(signpost.users.get('dom_1', '\udc00'), { code: 'invalid_argument' });
});

test('pages end at a null cursor, and a repeated cursor is an error', async () => {
  const pages = (cursors) => new Signpost('k', { fetch: async () => said(200, { users: [{ id: 'usr_1' }], next_cursor: cursors.shift() }) }).users.all('dom_1');
  assert.equal((await collected(pages(['a', 'b', null]))).length, 3);
  await assert.rejects(collected(pages(['a', 'a', 'a'])), { code: 'invalid_response' });
});

test('an infinite Retry-After is ignored', async () => {
  const headers = { 'retry-after': '9'.repeat(400) };
  const fetch = async () => said(429, { error: { code: 'rate_limited', message: 'no', details: {} } }, headers);
  await assert.rejects(new Signpost('k', { fetch, retries: 0 }).sessions.get('sess_1'), { status: 429, retryAfter: undefined });
});
