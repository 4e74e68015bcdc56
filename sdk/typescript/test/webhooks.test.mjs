// vectors/webhook.json and events.json: verification of events, and responses of the endpoint.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Signpost, webhooks } from '@signpost/sdk';
import { loginHandlers } from '@signpost/sdk/login';
import { Webhook } from 'standardwebhooks';
import { vectors } from './vectors.mjs';

const headersOf = (made) => ({
  'x-svc-signature': made.x_svc_signature, 'webhook-id': made.id,
  'webhook-timestamp': String(made.timestamp), 'webhook-signature': made.webhook_signature,
});

const { made, x_svc_signature, webhook_signature, malformed_secrets, event } = vectors('webhook');

/** Returns the result of a signature check; an invalid event with a valid signature passes. */
async function verdict(body, headers, secret, now) {
  const code = await webhooks.verify(body, headers, secret, { now }).then(() => 'event', (error) => error.code);
  return code === 'event' || code === 'invalid_event';
}

for (const vector of made) {
  test(`made: ${vector.name}`, async () => {
    assert.ok(await verdict(vector.body, headersOf(vector), vector.secret, vector.timestamp * 1000));
    assert.ok(await verdict(Buffer.from(vector.body), new Headers(headersOf(vector)), [vector.secret], vector.timestamp * 1000));
    const checked = new Webhook(vector.secret);
    // The other verifier has no injectable clock: it signs the text instead.
    assert.equal(checked.sign(vector.id, new Date(vector.timestamp * 1000), vector.body), vector.webhook_signature);
  });
}

for (const vector of x_svc_signature) {
  test(`X-Svc-Signature: ${vector.name}`, async () => {
    assert.equal(await verdict(vector.body, { 'X-Svc-Signature': vector.header }, vector.secret, 0), vector.valid);
  });
}

for (const vector of webhook_signature) {
  test(`webhook-signature: ${vector.name}`, async () => {
    const key = await crypto.subtle.importKey('raw', Buffer.from(vector.secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const own = Buffer.from(await crypto.subtle.sign('HMAC', key, Buffer.from(vector.body))).toString('hex');
    const headers = { 'x-svc-signature': own, 'webhook-id': vector.id, 'webhook-timestamp': String(vector.timestamp), 'webhook-signature': vector.header };
    assert.equal(await verdict(vector.body, headers, vector.secret, vector.timestamp * 1000), vector.valid);
  });
}

for (const secret of malformed_secrets) {
  test(`no secret: ${JSON.stringify(secret)}`, async () => {
    const text = secret.secret ?? secret.text ?? secret;
    await assert.rejects(webhooks.verify('{}', {}, text), { code: 'invalid_secret' });
  });
}

test('the vectors have an event', () => assert.ok(event));

const { verify, endpoint } = vectors('events');

for (const vector of verify) {
  test(`verify: ${vector.name}`, async () => {
    const body = 'parsed' in vector ? vector.parsed : vector.body;
    const plain = !/[^\x00-\xff]/.test(JSON.stringify(vector.headers));
    for (const headers of [vector.headers, ...(plain ? [new Headers(vector.headers)] : [])]) {
      const got = await webhooks.verify(body, headers, vector.secrets, { now: vector.now * 1000 }).catch((error) => error);
      if (vector.event) {
        assert.deepEqual(got, vector.event);
        continue;
      }
      assert.equal(got.code, vector.error.code, String(got));
      if (vector.error.reason) assert.equal(got.details.reason, vector.error.reason);
      for (const secret of vector.secrets) assert.ok(secret.length < 10 || !got.message.includes(secret));
    }
  });
}

for (const vector of endpoint) {
  test(`endpoint: ${vector.name}`, async () => {
    let [acts, fails] = [0, false];
    const onEvent = () => {
      acts += 1;
      if (fails) throw new Error('the site fails');
    };
    const login = loginHandlers(new Signpost('k'), {
      domain: 'localhost', site: 'http://localhost:1', cookieSecret: 'c'.repeat(32), startupCheck: false, webhookSecrets: vector.secrets,
      onEvent, onError: () => undefined, signIn: () => [], clock: { now: () => vector.now * 1000 },
    });
    for (const step of vector.steps) {
      [acts, fails] = [0, step.fails ?? false];
      const body = step.body ?? 'x'.repeat(step.length ?? 0);
      const request = new Request('http://localhost:1/signpost/events', { method: 'POST', headers: step.headers, body });
      const reply = await login.handle(request);
      const said = await reply.json();
      assert.deepEqual([reply.status, acts, said.status], [step.status, step.acts, step.says], JSON.stringify(said));
      if (!step.says) assert.ok(said.error.length > 0);
    }
  });
}

test('a secret with a line break is reported', async () => {
  await assert.rejects(webhooks.verify('{}', {}, `${made[0].secret}\n`), /line break/);
});

test('without a secret no event is accepted', async () => {
  const login = loginHandlers(new Signpost('k'), { domain: 'a', site: 'https://a.example', cookieSecret: 'c'.repeat(32), startupCheck: false, signIn: () => [] });
  const reply = await login.handle(new Request('https://a.example/signpost/events', { method: 'POST', body: '{}' }));
  assert.equal(reply.status, 404);
});

/** A site, and a function that sends it an event. */
function siteOf(options) {
  const common = { domain: 'a', site: 'https://a.example', cookieSecret: 'c'.repeat(32), startupCheck: false, webhookSecrets: made[0].secret, signIn: () => [], onError: () => undefined };
  const login = loginHandlers(new Signpost('k'), { ...common, ...options });
  return async (id) => {
    const body = JSON.stringify({ id, event: 'later', timestamp: '', session_id: '', data: {} });
    const headers = { 'x-svc-signature': createHmac('sha256', made[0].secret).update(body).digest('hex') };
    const reply = await login.events(new Request('https://a.example/', { method: 'POST', headers, body }));
    return [reply.status, (await reply.json()).status ?? reply.headers.get('retry-after')];
  };
}

test('a concurrent delivery is deferred, and processed after a failure', async () => {
  const acts = [];
  const send = siteOf({ onEvent: () => new Promise((resolve, reject) => void acts.push({ resolve, reject })) });
  const first = send('evt_1');
  while (acts.length === 0) await new Promise(setImmediate);
  assert.deepEqual(await send('evt_1'), [503, '5']);
  const other = send('evt_2');
  while (acts.length === 1) await new Promise(setImmediate);
  acts[1].resolve();
  assert.deepEqual(await other, [200, 'received']);
  acts[0].reject(new Error('the site fails'));
  assert.equal((await first)[0], 500);
  const third = send('evt_1');
  while (acts.length === 2) await new Promise(setImmediate);
  acts[2].resolve();
  assert.deepEqual(await third, [200, 'received']);
  assert.deepEqual(await send('evt_1'), [200, 'received before']);
  assert.equal(acts.length, 3);
});

test('an event is recorded after processing, and repeated after a failure', async () => {
  const [ids, steps] = [new Set(), []];
  let fails = true;
  const seenEvents = {
    has: async (id) => (steps.push('has'), ids.has(id)),
    add: async (id) => (steps.push('add'), fails ? Promise.reject(new Error('no database')) : ids.add(id)),
  };
  const send = siteOf({ seenEvents, onEvent: () => void steps.push('act') });
  assert.equal((await send('evt_1'))[0], 500);
  fails = false;
  assert.deepEqual(await send('evt_1'), [200, 'received']);
  assert.deepEqual(await send('evt_1'), [200, 'received before']);
  assert.deepEqual(steps, ['has', 'act', 'add', 'has', 'act', 'add', 'has']);
});

test('an event is accepted once without onEvent', async () => {
  const send = siteOf({});
  assert.deepEqual([await send('evt_1'), await send('evt_1')], [[200, 'received'], [200, 'received before']]);
});

test('the last ten thousand events are recorded', async () => {
  let acts = 0;
  const send = siteOf({ onEvent: () => (acts += 1) });
  for (let at = 0; at <= 10_000; at += 1) await send(`evt_${at}`);
  await send('evt_1');
  assert.equal(acts, 10_001);
  await send('evt_0');
  assert.equal(acts, 10_002);
});
