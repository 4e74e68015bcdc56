// The testing helper against the example site and the built program.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Signpost } from '@signpost/sdk';
import { logIn } from '@signpost/sdk/testing';
import { Server, answers, freePort, start } from './site.mjs';
import { ROOT } from './vectors.mjs';

let server;
let site;
let origin;
let signpost;
let domain;
let options;

before(async () => {
  server = await Server.start();
  const port = await freePort();
  origin = `http://localhost:${port}`;
  options = { key: server.key, baseUrl: server.api };
  signpost = new Signpost(server.key, { baseUrl: server.api });
  domain = await signpost.domains.create({ domain: 'localhost', webhook_url: `${origin}/signpost/events` });
  await signpost.domains.update(domain.id, { handler: 'hosted' });
  const settings = { API: server.api, KEY: server.key, PORT: String(port), SITE: origin, COOKIE_SECRET: '', WEBHOOK_SECRET: domain.webhook_secret };
  site = start(process.execPath, [new URL('../examples/express.mjs', import.meta.url).pathname], { env: { ...process.env, ...settings } });
  await answers(`${origin}/account`, site);
});
after(async () => {
  await site.end();
  await server.close();
});

test('each wallet is one user', async () => {
  const first = await logIn(origin, options);
  assert.match(first.user.id, /^usr_/);
  assert.equal(first.location, `${origin}/`);
  assert.equal(first.cookie, `site_login=${first.cookies.site_login}`);
  const page = await fetch(origin, { headers: { cookie: first.cookie } });
  assert.ok((await page.text()).includes(first.user.id));
  const again = await logIn(origin, { ...options, wallet: 1, next: '/?tab=keys' });
  assert.equal(again.user.id, first.user.id);
  assert.notEqual(again.cookie, first.cookie);
  assert.equal(again.location, `${origin}/?tab=keys`);
  assert.notEqual((await logIn(origin, { ...options, wallet: 2 })).user.id, first.user.id);
});

test('a cancelled login logs nobody in', async () => {
  const { cookie, user, location } = await logIn(origin, { ...options, denied: true, next: '/cart' });
  assert.deepEqual([cookie, user], ['', undefined]);
  assert.equal(location, `${origin}/?login_error=access_denied&next=%2Fcart`);
});

test('only the sandbox is accepted', async () => {
  for (const [given, message] of [
    [{ ...options, baseUrl: server.api.replace('/sandbox', '') }, /a base URL of the sandbox/],
    [{ ...options, key: 'svc_live_x' }, /an API key of the sandbox/],
    [{ ...options, key: undefined }, /an API key of the sandbox/],
    [{ ...options, user: 1 }, /unknown option user of logIn/],
  ]) await assert.rejects(logIn(origin, given), { code: 'invalid_argument', message });
  await assert.rejects(logIn(`${origin}/account`, options), { code: 'invalid_argument' });
});

test('errors name the cause', async (t) => {
  const port = new URL(origin).port;
  await assert.rejects(logIn(`http://127.0.0.1:${port}`, options), new RegExp(`returns to ${origin}, the site of the login handlers`));
  await assert.rejects(logIn(origin, { ...options, path: '/elsewhere' }), /elsewhere\/login has status 404 .* are the login handlers mounted there\?/);
  await assert.rejects(logIn(origin, { ...options, wallet: 101 }), { code: 'invalid_request' });
  await assert.rejects(logIn(`http://localhost:${await freePort()}`, options), /no reply from/);
  // A site whose page is of the live environment, and a site with an endless redirect.
  const targets = { live: '/login/sess_0123', loop: '/signpost/login' };
  let target;
  const fake = createServer((request, response) => response.writeHead(303, { location: target }).end()).listen(0, 'localhost');
  t.after(() => fake.close());
  await new Promise((resolve) => fake.once('listening', resolve));
  const at = `http://localhost:${fake.address().port}`;
  target = targets.live;
  await assert.rejects(logIn(at, options), /the site uses the live environment/);
  target = targets.loop;
  await assert.rejects(logIn(at, options), /redirected more than 5 times/);
  target = '/?login_error=unavailable';
  await assert.rejects(logIn(at, options), /login_error=unavailable/);
});

test('the tests of docs/testing.md pass', async (t) => {
  const folder = mkdtempSync(new URL('made-', import.meta.url).pathname);
  t.after(() => rmSync(folder, { recursive: true }));
  const [, code] = /```js\n(.*?)```/s.exec(readFileSync(new URL('docs/testing.md', ROOT), 'utf8'));
  const key = 'key: process.env.KEY';
  assert.ok(code.includes(key) && code.includes('http://localhost:9001'));
  writeFileSync(join(folder, 'shop.test.mjs'), code.replace('http://localhost:9001', origin).replace(key, `${key}, baseUrl: process.env.API`));
  const env = { ...process.env, API: server.api, KEY: server.key, NODE_TEST_CONTEXT: undefined };
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', join(folder, 'shop.test.mjs')], { env }).catch((error) => error);
  assert.match(stdout, /^# pass 2$/m, stdout);
  assert.match(stdout, /^# fail 0$/m, stdout);
});

test('a refused wallet is an error', async () => {
  await signpost.domains.update(domain.id, { registration: 'closed' });
  await assert.rejects(logIn(origin, { ...options, wallet: 7 }), /the simulated wallet was refused with status 404/);
  await signpost.domains.update(domain.id, { registration: 'open' });
});
