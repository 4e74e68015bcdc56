// Applications with the unmodified output of `signpost clients create --for …`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reservePorts } from '../ports.mjs';
import { greeted, timeout } from './journeys.mjs';
import { Realm } from './realm.mjs';
import { Site } from './site.mjs';

let realm;
before(async () => (realm = await Realm.open()));
after(() => realm?.close());

/** Starts a site for the duration of a test. */
async function start(t, program, options) {
  const site = await Site.start(realm, program, options);
  t.after(() => site.end());
  return site;
}

test('Apache works with the printed configuration', { timeout }, async (t) => {
  const site = await start(t, [process.execPath, 'sites/apache.mjs'], { configured: 'apache' });
  const person = realm.person();
  const user = greeted(await person.open(`${site.origin}/`));
  const known = await realm.claims(await realm.sub(person));
  assert.deepEqual([user.REMOTE_USER, user.sub, user.email], [known.preferred_username, known.sub, known.email]);
  await person.open(`${site.origin}/oidc/callback?logout=${encodeURIComponent(`${site.origin}/`)}`);
  assert.deepEqual(person.met, ['login'], 'the logout returns to the application, which requires a login');
});

test('Auth.js works with the printed configuration', { timeout }, async (t) => {
  const site = await start(t, [process.execPath, 'sites/authjs.mjs'], { configured: 'authjs' });
  const person = realm.person();
  const user = greeted(await person.open(`${site.origin}/login`));
  const known = await realm.claims(await realm.sub(person));
  assert.deepEqual([user.user.name, user.user.email], [known.name, known.email]);
});

test('JupyterHub works with the printed configuration and access list', { timeout }, async (t) => {
  const env = { NODE: process.execPath, PORTS: await reservePorts(3) };
  const options = { configured: 'jupyterhub', client: ['--allow', 'group:staff'], env };
  const site = await start(t, ['venv/bin/python', 'sites/jupyterhub_site.py'], options);
  const person = realm.person();
  const refused = await person.open(`${site.origin}/hub/oauth_login`);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /does not admit/);
  const sub = await realm.sub(person);
  await realm.describe(sub, { groups: ['staff'] });
  const page = await person.open(`${site.origin}/hub/oauth_login`);
  assert.equal(page.url.pathname, '/hub/home', page.text);
  assert.ok(page.text.includes((await realm.claims(sub)).preferred_username));
});
