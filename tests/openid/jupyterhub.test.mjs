// JupyterHub with oauthenticator: an application that people use, which lets in whom a group of the realm names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reservePorts } from '../ports.mjs';
import { bringing, stage, timeout } from './journeys.mjs';

const env = { NODE: process.execPath, PORTS: await reservePorts(3) };
const shared = stage(['venv/bin/python', 'sites/jupyterhub_site.py'], { redirect: '/hub/oauth_callback', env });

const login = (person, options) => person.open(`${shared.site.origin}/hub/oauth_login`, options);
/** Whom the hub greets; nobody where it sends its visitor to log in. */
const user = (page) => /data-user="([^"]*)"|user: "([^"]*)"/.exec(page.text)?.slice(1).find(Boolean);

/** Somebody whom the realm knows, in these groups. */
async function member(groups) {
  const person = shared.realm.person();
  await login(person);
  const sub = await shared.realm.sub(person);
  await shared.realm.describe(sub, { name: 'Ada Lovelace', groups });
  return { person: shared.realm.personWith(person.wallet), petname: (await shared.realm.claims(sub)).preferred_username };
}

test('JupyterHub: a person without a group is told that they may not enter', { timeout }, async () => {
  const page = await login(shared.realm.person());
  assert.equal(page.status, 403, page.text);
  assert.match(page.text, /not currently authorized/);
});

test('JupyterHub: a member of the group is in, by the petname, and is no administrator', { timeout }, async () => {
  const { person, petname } = await member(['staff']);
  const page = await login(person);
  assert.equal(page.status, 200, page.text);
  assert.equal(page.url.pathname, '/hub/home');
  assert.equal(user(page), petname);
  assert.equal((await person.open(`${shared.site.origin}/hub/admin`)).status, 403);
});

test('JupyterHub: another group makes an administrator', { timeout }, async () => {
  const { person, petname } = await member(['operators']);
  assert.equal(user(await login(person)), petname);
  const page = await person.open(`${shared.site.origin}/hub/admin`);
  assert.equal(page.status, 200, page.text);
});

test('JupyterHub: somebody who says no, and another state', { timeout }, async () => {
  const { person } = await member(['staff']);
  const altered = await login(person, { change: bringing(shared, 'state', 'another') });
  assert.equal(altered.status, 400, altered.text);
  const stranger = shared.realm.person();
  const denied = await login(stranger, { consent: 'deny' });
  assert.ok(stranger.met.includes('consent'));
  assert.ok(denied.status >= 400, denied.text);
  assert.match(denied.text, /OAuth error/);
});

test('JupyterHub: logging out at the hub asks at the provider, which then knows nobody', { timeout }, async () => {
  const { person } = await member(['staff']);
  await login(person);
  await person.open(`${shared.site.origin}/hub/logout`);
  assert.deepEqual(person.met, ['logout']);
  await login(person);
  assert.deepEqual(person.met, ['login']);
});
