// The application that docs/openid.md shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stage, timeout } from './journeys.mjs';

const shared = stage(['venv/bin/python', 'sites/example.py']);
const open = (person, path, options) => person.open(`${shared.site.origin}${path}`, options);
const greeting = ({ text }) => /<b id="user">(usr_\w+)<\/b> is ([^.]+)\./.exec(text)?.slice(1);

test('the application of the docs logs people in, knows them again, and logs them out', { timeout }, async () => {
  const person = shared.realm.person();
  assert.equal(greeting(await open(person, '/')), undefined);
  const [sub, petname] = greeting(await open(person, '/login'));
  assert.equal(petname, (await shared.realm.claims(sub)).name);
  assert.ok(person.met.includes('consent'), String(person.met));
  assert.equal((await open(person, '/logout')).url.href, `${shared.site.origin}/`);
  assert.deepEqual(person.met, [], 'whoever has the ID token is not asked');
  assert.deepEqual(greeting(await open(person, '/login')), [sub, petname]);
  assert.deepEqual(person.met, ['login']);
});

test('the application of the docs logs in nobody who says no, and nobody by another state', { timeout }, async () => {
  const person = shared.realm.person();
  const denied = await open(person, '/login', { consent: 'deny' });
  assert.deepEqual([denied.status, denied.text], [403, 'Nobody was logged in: the user did not agree']);
  const page = await open(person, '/callback?code=sgp_code_x&state=another');
  assert.deepEqual([page.status, greeting(await open(person, '/'))], [403, undefined]);
});
