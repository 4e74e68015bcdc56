// The client settings of `signpost clients`, and their effect on users.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeted, refused, stage, timeout } from './journeys.mjs';

const PROGRAM = [process.execPath, 'sites/openid-client-6.mjs'];
const shared = stage(PROGRAM);
const login = (site, person, options) => person.open(`${site.origin}/login`, options);

test('a signed-in user consents once per client', { timeout }, async () => {
  const other = await shared.start(PROGRAM);
  const person = shared.realm.person();
  const { sub } = greeted(await login(shared.site, person));
  assert.equal(greeted(await login(other, person)).sub, sub);
  assert.deepEqual(person.met, ['consent']);
  greeted(await login(other, person));
  assert.deepEqual(person.met, []);
});

test('a trusted client needs no consent and gets amr', { timeout }, async () => {
  const site = await shared.start(PROGRAM, { client: ['--trusted'] });
  const person = await shared.realm.scanner();
  const user = greeted(await login(site, person));
  assert.ok(!person.met.includes('consent'), String(person.met));
  assert.equal(user.acr, 'urn:signpost:wallet+match');
  assert.deepEqual(user.amr, ['pop', 'swk']);
  assert.match(user.sid, /^bses_/);
  assert.ok(user.auth_time <= user.iat, JSON.stringify(user));
});

test('a client without e-mail addresses gets none', { timeout }, async () => {
  const site = await shared.start(PROGRAM, { client: ['--email', 'none'] });
  const user = greeted(await login(site, shared.realm.person()));
  for (const claims of [user, user.userinfo]) assert.deepEqual([claims.email, claims.email_verified], [undefined, undefined]);
});

test('a client admits only the named users', { timeout }, async () => {
  const person = shared.realm.person();
  const { sub } = greeted(await login(shared.site, person));
  const site = await shared.start(PROGRAM, { client: ['--allow', sub, '--allow', 'group:staff'] });
  assert.equal(greeted(await login(site, person)).sub, sub);
  const stranger = shared.realm.person();
  await refused({ site }, stranger, await login(site, stranger), /error: 'access_denied'/);
  await shared.realm.describe(await shared.realm.sub(stranger), { groups: ['staff'] });
  greeted(await login(site, stranger));
});

test('a rotated secret works for a day, without --now', { timeout }, async () => {
  const site = await shared.start(PROGRAM, { client: ['--trusted'] });
  const person = shared.realm.person();
  greeted(await login(site, person));
  const rotate = (...options) => shared.realm.command('clients', 'rotate', site.client.client_id, ...options);
  assert.notEqual((await rotate()).client_secret, site.client.client_secret);
  greeted(await login(site, person));
  await rotate('--now');
  assert.match((await login(site, person)).text, /status: 401/);
});

test('a deleted client has no logins', { timeout }, async () => {
  const site = await shared.start(PROGRAM, { client: ['--trusted'] });
  const person = shared.realm.person();
  greeted(await login(site, person));
  await shared.realm.command('clients', 'delete', site.client.client_id, '--yes');
  assert.match((await person.open(`${site.origin}/refresh`)).text, /status: 401/);
  const page = await login(site, person);
  assert.equal(page.status, 400, page.text);
  assert.equal(page.url.origin, new URL(site.client.issuer).origin, 'no redirect to an unknown client');
});
