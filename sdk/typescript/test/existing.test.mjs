// docs/recipes/existing-accounts.md: users with passwords, who add a wallet to their accounts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { Person, Server, answers, freePort, start, visit } from './site.mjs';
import { ROOT } from './vectors.mjs';

const SITE = new URL('../recipes/existing.mjs', import.meta.url).pathname;
let server;
let signpost;
let domain;
let origin;
let site;

before(async () => {
  server = await Server.start();
  signpost = new Signpost(server.key, { baseUrl: server.api });
  const port = await freePort();
  origin = `http://localhost:${port}`;
  domain = await signpost.domains.create({ domain: 'localhost', webhook_url: `${origin}/signpost/events` });
  await signpost.domains.update(domain.id, { handler: 'hosted', registration: 'closed' });
  site = start(process.execPath, [SITE], { env: { ...process.env, API: server.api, KEY: server.key, PORT: String(port) } });
  await answers(origin, site);
});
after(async () => {
  await site?.end();
  await server?.close();
});

/** Submits a form as this user; returns the last page. */
function submit(person, url, fields) {
  const form = { method: 'POST', body: new URLSearchParams(fields).toString() };
  const head = { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(url).origin };
  const ask = (address, init) => visit(address, address === url ? { ...form, headers: { ...init.headers, ...head } } : init);
  return person.open(url, { ask });
}

/** Scans the code of a page that adds a key, and confirms the key; returns the last page. */
async function addKey(person, page) {
  assert.equal(await person.answer(page), undefined);
  const form = /<form id="confirm-link".*?<\/form>/s.exec((await person.open(page.url)).text)[0];
  const [action, token, key] = [/action="([^"]+)"/, /name="token" value="([^"]+)"/, /name="key" value="([^"]+)"/].map((part) => part.exec(form)[1]);
  const done = await submit(person, new URL(action, page.url).href, { token, key, answer: 'yes' });
  return person.open(/id="continue"[^>]*href="([^"]+)"|href="([^"]+)"[^>]*id="continue"/.exec(done.text).slice(1).find(Boolean).replaceAll('&amp;', '&'));
}

/** Creates a user with a browser, who logged in with the password. */
async function customer(email, password) {
  const person = new Person(server);
  const home = await submit(person, `${origin}/password`, { email, password });
  assert.equal(emailOn(home), email);
  return person;
}

const emailOn = (page) => /<b id="user">([^<]+)<\/b>/.exec(page.text)?.[1];
const usersAtSignpost = async () => (await signpost.users.list(domain.id)).users;

test('a user with a password adds a wallet and logs in with it', async () => {
  const ann = await customer('ann@shop.example', 'correct horse');
  assert.equal((await submit(ann, `${origin}/add-key`, { password: 'guessed' })).status, 403);
  assert.deepEqual(await usersAtSignpost(), []);

  // Two clicks: the second page replaces the first, and both have one user.
  const first = await submit(ann, `${origin}/add-key`, { password: 'correct horse' });
  const second = await submit(ann, `${origin}/add-key`, { password: 'correct horse' });
  for (const { text } of [first, second]) assert.match(text, /Add a key to your account at/);
  const [user, ...others] = await usersAtSignpost();
  assert.deepEqual([user.external_id, others], ['1', []]);

  const home = await addKey(ann, second);
  assert.equal(emailOn(home), 'ann@shop.example');
  assert.equal((await signpost.users.get(domain.id, user.id)).credentials.length, 1);
  assert.doesNotMatch((await ann.open(first.url)).text, /href="svc:/, 'the first page still shows a code');

  await submit(ann, `${origin}/logout`, {});
  const again = await ann.open(await ann.answer(await ann.open(`${origin}/signpost/login`)));
  assert.equal(emailOn(again), 'ann@shop.example');
  // The third click opens a page for another key, and changes nothing.
  assert.match((await submit(ann, `${origin}/add-key`, { password: 'correct horse' })).text, /Add a key to your account at/);
  assert.equal((await usersAtSignpost()).length, 1);
});

test('the first key requires the password of a moment ago', async () => {
  const bob = await customer('bob@shop.example', 'battery staple');
  await submit(bob, `${origin}/add-key`, { password: 'battery staple' });
  await submit(bob, `${origin}/logout`, {});
  await submit(bob, `${origin}/password`, { email: 'bob@shop.example', password: 'battery staple' });
  // A new session, in which the password was not asked again.
  assert.equal((await bob.open(`${origin}/signpost/link`)).url, `${origin}/?login_error=refused`);
});

test('an unknown wallet gets no account', async () => {
  const stranger = new Person(server);
  const page = await stranger.open(`${origin}/signpost/login`);
  assert.equal(await stranger.answer(page), undefined);
  assert.doesNotMatch((await stranger.open(page.url)).text, /data-state="create"/);
});

test('the recipe shows the code of this site', () => {
  const page = readFileSync(new URL('docs/recipes/existing-accounts.md', ROOT), 'utf8');
  assert.ok(page.includes(`\`\`\`js\n${readFileSync(SITE, 'utf8')}\`\`\``));
});
