// The example sites against the built program: logins on the page, and the conformance kit with the wallet handlers.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Signpost } from '@signpost/sdk';
import { Person, SIGNPOST, Server, answers, freePort, start, visit } from './site.mjs';

const folder = new URL('../examples/', import.meta.url);
let server;
before(async () => (server = await Server.start()));
after(() => server.close());

/** Starts an example for a hosted domain whose events it receives. */
async function open(t, file, env = {}, domain = 'localhost') {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const signpost = new Signpost(server.key, { baseUrl: server.api });
  for await (const domain of signpost.domains.all()) await signpost.domains.delete(domain.id);
  const { id, webhook_secret } = await signpost.domains.create({ domain, webhook_url: `${origin}/signpost/wallet/login` });
  await signpost.domains.update(id, { handler: 'hosted', event_url: `${origin}/signpost/events` });
  const settings = { API: server.api, KEY: server.key, PORT: String(port), SITE: origin, COOKIE_SECRET: '', WEBHOOK_SECRET: webhook_secret, ...env };
  const site = start(process.execPath, [new URL(file, folder).pathname], { env: { ...process.env, ...settings } });
  t.after(() => site.end());
  await answers(`${origin}/account`, site);
  return { origin, signpost, id, lines: createInterface({ input: site.child.stdout })[Symbol.asyncIterator](), site };
}

for (const file of ['express.mjs', 'fastify.mjs', 'hono.mjs']) {
  test(`${file}: an account, a second login, and a rejected foreign code`, async (t) => {
    const { origin, signpost, id, lines } = await open(t, file);
    const person = new Person(server);
    const back = await person.answer(await person.open(`${origin}/signpost/register?next=/%3Ffrom=login`));
    const page = await person.open(back);
    assert.equal(page.url, `${origin}/?from=login`);
    const user = /<b id="user">(usr_\w+)<\/b>/.exec(page.text)[1];
    assert.equal((await lines.next()).value, `register of ${user}`);
    assert.deepEqual((await signpost.users.list(id)).users.map((item) => item.id), [user]);
    // The address a second time, and in another browser.
    assert.match((await person.open(back)).url, /\/\?login_error=other_browser$/);
    const again = await person.answer(await person.open(`${origin}/signpost/login`));
    const stranger = await new Person(server).open(again);
    assert.match(stranger.url, /\/\?login_error=other_browser$/);
    assert.ok(!stranger.text.includes(user));
    const before = person.open(`${origin}/`).then((page) => page.cookies.get('site_login'));
    const old = await before;
    const home = await person.open(again);
    assert.ok(home.text.includes(user));
    assert.notEqual(home.cookies.get('site_login'), old);
    assert.equal((await lines.next()).value, `login of ${user}`);
    assert.ok(!home.cookies.keys().next().value.startsWith('signpost-'), 'a state is left');
    // A test event uses the raw body too.
    const { id: event } = await signpost.domains.sendTestEvent(id);
    await delivered(signpost, event);
  });
}

/** Waits until an event is delivered. */
async function delivered(signpost, event) {
  for (;;) {
    const { state, last_error } = await signpost.deliveries.get(event);
    if (state === 'delivered') return;
    assert.equal(last_error, undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('express.mjs: a link adds another key', async (t) => {
  const { origin, signpost, id } = await open(t, 'express.mjs');
  const person = new Person(server);
  await person.open(await person.answer(await person.open(`${origin}/signpost/register`)));
  const stranger = await new Person(server).open(`${origin}/signpost/link`, { stop: true });
  assert.equal(stranger.location, '/signpost/login?next=%2Fsignpost%2Flink');
  const page = await person.open(`${origin}/signpost/link`);
  assert.match(page.url, /\/login\/sess_/);
  assert.equal((await signpost.users.list(id)).users.length, 1);
});

test('express.mjs: a logout ends the login, and cancels a pending link', async (t) => {
  const { origin } = await open(t, 'express.mjs');
  const person = new Person(server);
  await person.open(await person.answer(await person.open(`${origin}/signpost/register`)));
  await person.open(`${origin}/signpost/link`);
  const home = await person.open(`${origin}/signpost/logout`);
  assert.equal(home.url, `${origin}/`);
  assert.match(home.text, /Log in/);
  assert.equal(home.cookies.size, 0);
});

test('next: the route module logs users in', async (t) => {
  const { origin } = await open(t, 'express.mjs');
  Object.assign(process.env, { API: server.api, KEY: server.key, SITE: origin, COOKIE_SECRET: 'c'.repeat(32), WEBHOOK_SECRET: '' });
  const { GET } = await import('../examples/next/app/signpost/[step]/route.js');
  const { whoIs } = await import('../examples/next/people.js');
  const person = new Person(server);
  const ask = (url, init) => (url.startsWith(`${origin}/signpost/`) ? GET(new Request(url, init)) : visit(url, init));
  const back = await person.answer(await person.open(`${origin}/signpost/register`, { ask }));
  const home = await person.open(back, { ask });
  assert.match(whoIs(`site_login=${home.cookies.get('site_login')}`), /^usr_/);
  assert.equal((await GET(new Request(`${origin}/signpost/else`))).status, 404);
  // The requests of a `<Link>` in production mode; Next.js opens the page itself if a click gets no data.
  for (const headers of [{ rsc: '1', 'next-router-prefetch': '1', 'next-router-segment-prefetch': '/_tree' }, { rsc: '1' }, { 'sec-fetch-mode': 'cors' }]) {
    assert.equal((await GET(new Request(`${origin}/signpost/login?_rsc=1f3a`, { headers }))).status, 204);
  }
});

test('handlers.mjs: the conformance kit finds no errors', async (t) => {
  const api = await freePort();
  const secret = 'whsec_Y29uZm9ybWFuY2Uga2l0LCBub3QgYSBzZWNyZXQhIQ==';
  const { origin } = await open(t, 'handlers.mjs', { API: `http://127.0.0.1:${api}/v1`, WEBHOOK_SECRET: secret });
  const args = ['conformance', '--start', `${origin}/`, '--poll', `${origin}/signpost/poll`, '--events', `${origin}/signpost/events`, '--api-listen', `127.0.0.1:${api}`, '--json'];
  const { stdout, stderr } = await promisify(execFile)(SIGNPOST, args).catch((error) => error);
  assert.ok(stdout, stderr);
  const { holds, broken, not_tested, checks } = JSON.parse(stdout);
  const wrong = checks.filter((check) => check.verdict !== 'holds');
  assert.deepEqual([broken, not_tested], [0, 0], JSON.stringify(wrong, null, 1));
  t.diagnostic(`${holds} rules hold`);
  assert.equal(holds, 50);
});

test('handlers.mjs: a wallet registers and logs in', async (t) => {
  const { origin, signpost, id } = await open(t, 'handlers.mjs');
  await signpost.domains.update(id, { handler: 'direct' });
  const person = new Person(server);
  for (const [path, word] of [['/register', 'registered'], ['/', 'authenticated']]) {
    const page = await person.open(origin + path);
    assert.match(page.text, /<svg/);
    const code = /href="(svc:[^"]+)"/.exec(page.text)[1].replaceAll('&amp;', '&');
    const answer = await person.scan(code);
    assert.deepEqual([answer.status, answer.body.status], [200, word], JSON.stringify(answer));
    const sid = /data-sid="([^"]+)"/.exec(page.text)[1];
    const poll = await person.open(`${origin}/signpost/poll?sid=${sid}`);
    assert.deepEqual(JSON.parse(poll.text), { status: 'authenticated', redirect: '/account' });
    assert.equal((await person.open(`${origin}/account`)).text, 'You are user 1.');
  }
});

test('examples have at most sixty lines', () => {
  for (const file of ['express.mjs', 'fastify.mjs', 'hono.mjs', 'handlers.mjs']) {
    assert.ok(readFileSync(new URL(file, folder), 'utf8').split('\n').length <= 61, file);
  }
});
