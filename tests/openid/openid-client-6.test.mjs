// openid-client 6: the certified library that is most used with Node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeted, journeys, stage, timeout } from './journeys.mjs';

const PROGRAM = [process.execPath, 'sites/openid-client-6.mjs'];
const shared = stage(PROGRAM);

journeys('openid-client 6', shared, {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: {
    denied: /error: 'access_denied'/,
    state: /unexpected "state"/,
    iss: /unexpected "iss"/,
    nonce: /unexpected ID Token "nonce"/,
  },
  refreshes: true,
  logsOut: true,
});

test('openid-client 6: a revoked token is inactive', { timeout }, async () => {
  const person = shared.realm.person();
  greeted(await person.open(`${shared.site.origin}/login`));
  const said = await person.open(`${shared.site.origin}/revoke`);
  assert.deepEqual(JSON.parse(said.text), { before: true, after: false });
  assert.match((await person.open(`${shared.site.origin}/refresh`)).text, /invalid_grant/);
});

test('openid-client 6: prompts none and login work', { timeout }, async () => {
  const person = shared.realm.person();
  const silent = await person.open(`${shared.site.origin}/login?prompt=none`);
  assert.match(silent.text, /login_required/);
  assert.deepEqual(person.met, []);
  const { sub } = greeted(await person.open(`${shared.site.origin}/login`));
  assert.equal(greeted(await person.open(`${shared.site.origin}/login?prompt=none`)).sub, sub);
  assert.deepEqual(person.met, []);
  assert.equal(greeted(await person.open(`${shared.site.origin}/login?prompt=login`)).sub, sub);
  assert.deepEqual(person.met, ['login']);
});

test('openid-client 6: a client may use ES256', { timeout }, async () => {
  const site = await shared.start(PROGRAM, { client: ['--alg', 'ES256'], env: { SITE_ALG: 'ES256' } });
  greeted(await shared.realm.person().open(`${site.origin}/login`));
});
