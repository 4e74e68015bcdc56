// The client against the built program: every call, as in a site.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Signpost, SignpostError } from '@signpost/sdk';
import { Server } from './site.mjs';
import { vectors } from './vectors.mjs';

let server;
let signpost;
let domain;
before(async () => {
  server = await Server.start();
  signpost = new Signpost(server.key, { baseUrl: server.api });
  domain = await signpost.domains.create({ domain: 'localhost', webhook_url: 'http://localhost:9/wallet' });
});
after(() => server.close());

test('domains are created, changed, listed and deleted', async () => {
  assert.match(domain.webhook_secret, /^whsec_/);
  const made = await signpost.domains.create({ domain: 'shop.example', webhook_url: 'http://localhost:9/wallet' });
  const changed = await signpost.domains.update(made.id, { handler: 'hosted', display_name: 'Shop', event_url: 'http://localhost:9/events' });
  assert.deepEqual([changed.handler, changed.display_name], ['hosted', 'Shop']);
  const { event_url, ...rest } = changed;
  assert.equal(event_url, 'http://localhost:9/events');
  await signpost.domains.update(made.id, { event_url: null });
  assert.deepEqual(await signpost.domains.get(made.id), rest);
  const names = [];
  for await (const domain of signpost.domains.all()) names.push(domain.domain);
  assert.deepEqual(names, ['localhost', 'shop.example']);
  assert.equal((await signpost.domains.list({ limit: 1 })).domains.length, 1);
  await assert.rejects(signpost.domains.create({ domain: 'shop.example', webhook_url: 'http://localhost:9/wallet' }), (error) => {
    assert.ok(error instanceof SignpostError);
    assert.deepEqual([error.code, error.status, error.details.id], ['domain_exists', 409, made.id]);
    assert.match(error.message, /\(req_\w+\)$/);
    return true;
  });
  await assert.rejects(signpost.domains.verify(made.id), { code: 'domain_verification_failed', status: 422 });
  await signpost.domains.delete(made.id);
  await assert.rejects(signpost.domains.get(made.id), { code: 'domain_not_found', status: 404 });
});

test('a session is created, refreshed, awaited and answered', async () => {
  await signpost.domains.update(domain.id, { handler: 'hosted' });
  const session = await signpost.sessions.create({ domain: 'localhost', mode: 'register', metadata: { custom_data: 'basket 7' } });
  assert.match(session.qr_data, /^svc:\/\/auth\?/);
  assert.match(await signpost.sessions.qrSvg(session.id), /^<svg /);
  assert.notEqual((await signpost.sessions.refresh(session.id)).challenge, session.challenge);
  assert.equal((await signpost.sessions.wait(session.id, { timeout: 0 })).status, 'pending');
  const waiting = signpost.sessions.wait(session.id);
  const simulation = await signpost.sessions.simulate(session.id, { wallet: 3 });
  assert.equal(simulation.status, 200, JSON.stringify(simulation));
  const answered = await waiting;
  assert.deepEqual([answered.status, answered.user?.public_key, answered.metadata], ['authenticated', simulation.public_key, session.metadata]);

  const { users } = await signpost.users.list(domain.id);
  assert.equal(users[0].id, answered.user.id);
  const user = await signpost.users.update(domain.id, users[0].id, { name: 'Ada', groups: ['staff'] });
  assert.deepEqual([user.name, user.groups], ['Ada', ['staff']]);
  assert.deepEqual(await signpost.users.get(domain.id, user.public_key), user);
  await assert.rejects(signpost.users.deleteCredential(domain.id, user.id, user.credentials[0].id), { code: 'last_credential' });
  await signpost.users.delete(domain.id, user.id);
  await signpost.users.deleteAll(domain.id);
  assert.deepEqual((await signpost.users.list(domain.id)).users, []);
});

test('an idempotency key creates one session', async () => {
  const [first, second] = await Promise.all([1, 2].map(() => signpost.sessions.create({ domain: 'localhost' }, { idempotencyKey: 'order-7' })));
  assert.equal(first.id, second.id);
  await assert.rejects(signpost.sessions.create({ domain: 'localhost', mode: 'register' }, { idempotencyKey: 'order-7' }), { code: 'idempotency_key_reused' });
});

test('cancelled and unknown sessions are reported', async () => {
  const { id } = await signpost.sessions.create({ domain: 'localhost' });
  const waiting = signpost.sessions.wait(id);
  await signpost.sessions.cancel(id);
  assert.deepEqual(await waiting, { id, status: 'cancelled' });
  await assert.rejects(signpost.sessions.get(id), { code: 'session_cancelled', status: 410 });
  await assert.rejects(signpost.sessions.complete(id, { code: 'x' }), { status: 410 });
  await assert.rejects(signpost.sessions.get('sess_x'), { code: 'session_not_found' });
  const answer = { public_key: '02', signature: '30', challenge: 'svc:', timestamp: 1 };
  await assert.rejects(signpost.sessions.authenticate('sess_x', answer), { code: 'session_not_found' });
  const cancelled = [];
  for await (const session of signpost.sessions.all({ status: 'cancelled' })) cancelled.push(session.id);
  assert.ok(cancelled.includes(id));
});

test('an unknown key is rejected', async () => {
  await assert.rejects(new Signpost('svc_test_nobody', { baseUrl: server.api }).domains.list(), { code: 'invalid_api_key', status: 401 });
});

test('deliveries are listed, read and retried', async () => {
  const sent = await signpost.domains.sendTestEvent(domain.id);
  assert.equal((await signpost.deliveries.get(sent.id)).body?.event, 'test');
  assert.ok((await signpost.deliveries.list({ limit: 100 })).deliveries.some((delivery) => delivery.id === sent.id));
  assert.equal((await signpost.deliveries.retry(sent.id)).id, sent.id);
  assert.equal(typeof (await signpost.deliveries.retryAll()).retried, 'number');
  await assert.rejects(signpost.deliveries.get('evt_x'), { code: 'not_found' });
});

test('verify returns the results of the vectors', async () => {
  const cases = vectors('signature').verified ?? [];
  assert.ok(cases.length > 0);
  for (const { name, public_key, signature, message, valid } of cases) {
    const said = await signpost.verify({ public_key, signature, message });
    assert.equal(said.valid, valid, name);
  }
});

test('verify accepts a Lightning signature over the challenge', async () => {
  const { signed } = vectors('lnurl');
  assert.ok(signed.length > 0);
  for (const answer of signed) {
    const { valid } = await signpost.verify({ public_key: answer.public_key, signature: answer.signature, message: answer.challenge });
    assert.ok(valid, answer.challenge);
  }
});

test('the locator finds ATMs, and explains its errors', async () => {
  const found = await signpost.atms.nearest({ location: 'Miami, FL', limit: 2 });
  assert.equal(found.atms.length, 2);
  assert.equal(found.resolvedLocation.name, 'Miami');
  assert.equal((await signpost.atms.get(found.atms[0].id)).id, found.atms[0].id);
  const { lat, lon } = found.resolvedLocation;
  assert.ok((await signpost.atms.status({ lat, lon, radius: 5 })).counts);
  assert.ok((await signpost.atms.listByCity({ city: 'Austin', state: 'TX' })).total > 0);
  for (const { text, sourceUrl } of found.advisories ?? []) assert.ok(text && sourceUrl);
  await assert.rejects(signpost.atms.nearest({ location: 'Nowhereville, ZZ' }), (error) => {
    assert.equal(error.code, 'tool_error');
    assert.match(error.message, /Nowhereville/);
    return true;
  });
  await assert.rejects(signpost.atms.get(0), { code: 'mcp_error' });
  assert.equal(signpost.atms.mcpUrl, `http://${server.listen}/mcp`);
});
