// The application in docs/openid.md.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stage, timeout } from './journeys.mjs';

const shared = stage(['venv/bin/python', 'sites/example.py']);
const open = (person, path, options) => person.open(`${shared.site.origin}${path}`, options);
const greeting = ({ text }) => /<b id="user">(usr_\w+)<\/b> is ([^.]+)\./.exec(text)?.slice(1);

test('the documented application logs users in and out', { timeout }, async () => {
  const person = shared.realm.person();
  assert.equal(greeting(await open(person, '/')), undefined);
  const [sub, petname] = greeting(await open(person, '/login'));
  assert.equal(petname, (await shared.realm.claims(sub)).name);
  assert.ok(person.met.includes('consent'), String(person.met));
  assert.equal((await open(person, '/logout')).url.href, `${shared.site.origin}/`);
  assert.deepEqual(person.met, [], 'a logout with an ID token hint needs no confirmation');
  assert.deepEqual(greeting(await open(person, '/login')), [sub, petname]);
  assert.deepEqual(person.met, ['login']);
});

test('the documented application rejects a denial and another state', { timeout }, async () => {
  const person = shared.realm.person();
  const denied = await open(person, '/login', { consent: 'deny' });
  assert.deepEqual([denied.status, denied.text], [403, 'The login failed: the user did not agree']);
  const page = await open(person, '/callback?code=sgp_code_x&state=another');
  assert.deepEqual([page.status, greeting(await open(person, '/'))], [403, undefined]);
});

test('the documented application has a host-only cookie over https', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signpost-example-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const CLIENT = join(folder, 'client.json');
  writeFileSync(CLIENT, JSON.stringify({ issuer: 'https://login.example/dom_1', client_id: 'cli_1', client_secret: 'x' }));
  const program = `
import runpy
app = runpy.run_path('../../examples/openid/app.py')['app']
@app.get('/session')
def change():
    from flask import session
    session['user'] = {'sub': 'usr_1', 'name': 'Ada'}
    return ''
client = app.test_client()
print(client.get('/session').headers['Set-Cookie'])`;
  const cookieAt = (SITE) => execFileSync('venv/bin/python', ['-c', program], { env: { ...process.env, CLIENT, SITE }, encoding: 'utf8' });
  const [pair, ...attributes] = cookieAt('https://app.example').trim().split('; ');
  assert.match(pair, /^__Host-app_login=/);
  assert.deepEqual(attributes.toSorted(), ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']);
  assert.match(cookieAt('http://localhost:9003'), /^app_login=[^;]*; HttpOnly; Path=\/; SameSite=Lax$/m);
});
