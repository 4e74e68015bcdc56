// JupyterHub with oauthenticator: an application that admits users by their group.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reservePorts } from '../ports.mjs';
import { bringing, stage, timeout } from './journeys.mjs';

const env = { NODE: process.execPath, PORTS: await reservePorts(3) };
const shared = stage(['venv/bin/python', 'sites/jupyterhub_site.py'], { redirect: '/hub/oauth_callback', env });

const login = (person, options) => person.open(`${shared.site.origin}/hub/oauth_login`, options);
/** Returns the user of a page of the hub; nothing on its login page. */
const user = (page) => /data-user="([^"]*)"|user: "([^"]*)"/.exec(page.text)?.slice(1).find(Boolean);

/** Creates a user with these groups. */
async function member(groups) {
  const person = shared.realm.person();
  await login(person);
  const sub = await shared.realm.sub(person);
  await shared.realm.describe(sub, { name: 'Ada Lovelace', groups });
  return { person: shared.realm.personWith(person.wallet), petname: (await shared.realm.claims(sub)).preferred_username };
}

test('JupyterHub: a user without a group is rejected', { timeout }, async () => {
  const page = await login(shared.realm.person());
  assert.equal(page.status, 403, page.text);
  assert.match(page.text, /not currently authorized/);
});

test('JupyterHub: a group member is a user, not an administrator', { timeout }, async () => {
  const { person, petname } = await member(['staff']);
  const page = await login(person);
  assert.equal(page.status, 200, page.text);
  assert.equal(page.url.pathname, '/hub/home');
  assert.equal(user(page), petname);
  assert.equal((await person.open(`${shared.site.origin}/hub/admin`)).status, 403);
});

test('JupyterHub: another group has administrators', { timeout }, async () => {
  const { person, petname } = await member(['operators']);
  assert.equal(user(await login(person)), petname);
  const page = await person.open(`${shared.site.origin}/hub/admin`);
  assert.equal(page.status, 200, page.text);
});

test('JupyterHub: a denial and another state are rejected', { timeout }, async () => {
  const { person } = await member(['staff']);
  const altered = await login(person, { change: bringing(shared, 'state', 'another') });
  assert.equal(altered.status, 400, altered.text);
  const stranger = shared.realm.person();
  const denied = await login(stranger, { consent: 'deny' });
  assert.ok(stranger.met.includes('consent'));
  assert.ok(denied.status >= 400, denied.text);
  assert.match(denied.text, /OAuth error/);
});

test('JupyterHub: a logout also ends the provider\'s session', { timeout }, async () => {
  const { person } = await member(['staff']);
  await login(person);
  await person.open(`${shared.site.origin}/hub/logout`);
  assert.deepEqual(person.met, ['logout']);
  await login(person);
  assert.deepEqual(person.met, ['login']);
});
