// The crate openidconnect, in a native application: no secret, and another port each time.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { timeout } from './journeys.mjs';
import { Realm } from './realm.mjs';

const NAMES = ['sub', 'preferred_username', 'nickname', 'name', 'email'];
let realm;
before(async () => (realm = await Realm.open()));
after(() => realm?.close());

/** Runs the application for a user whose browser it opens; returns its output. `spoil` is the program's argument. */
async function run(client, person, { spoil, ...options } = {}) {
  const args = [client.issuer, client.client_id, ...(spoil ? [spoil] : [])];
  const child = spawn(process.env.OPENIDCONNECT, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value);
    const { open, error } = await next();
    assert.ok(open, error);
    const page = await person.open(open, options);
    assert.match(page.text, /Go back to the application/, `${page.url}`);
    return await next();
  } finally {
    child.kill();
  }
}

const register = (...options) => realm.createClient('http://127.0.0.1/callback', ['--public', ...options]);

for (const algorithm of ['RS256', 'ES256']) {
  test(`openidconnect: a user logs in with ${algorithm}`, { timeout }, async () => {
    const client = await register('--alg', algorithm);
    assert.equal(client.client_secret, undefined);
    const person = realm.person();
    const result = await run(client, person);
    assert.ok(person.met.includes('consent'), String(person.met));
    assert.ok(result.claims, result.error);
    const known = await realm.claims(result.claims.sub);
    for (const claims of [result.claims, result.userinfo]) {
      for (const name of NAMES) assert.equal(claims[name], known[name], name);
    }
    assert.deepEqual(result.userinfo.groups, known.groups);
    assert.match(result.algorithm, new RegExp(algorithm === 'RS256' ? 'RsaSsaPkcs1V15Sha256' : 'EcdsaP256Sha256'));
    assert.equal(result.rotated, true);
    const again = await run(client, person);
    assert.equal(again.claims?.sub, result.claims.sub, again.error);
    assert.deepEqual(person.met, []);
  });
}

test('openidconnect: another nonce, at_hash or state, or a denial, is rejected', { timeout }, async () => {
  const client = await register();
  const person = realm.person();
  assert.match((await run(client, person, { consent: 'deny' })).error, /access_denied/);
  assert.match((await run(client, person, { spoil: 'nonce' })).error, /InvalidNonce/);
  assert.match((await run(client, person, { spoil: 'at_hash' })).error, /another at_hash/);
  const change = (url) => {
    if (url.hostname === '127.0.0.1') url.searchParams.set('state', 'another');
    return url;
  };
  assert.match((await run(client, person, { change })).error, /another state/);
});
