// The sites of docs/recipes: logins with the other packages' sessions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { Person, Server, answers, freePort, start } from './site.mjs';
import { ROOT } from './vectors.mjs';

let server;
before(async () => (server = await Server.start()));
after(() => server.close());

async function open(t, name) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const signpost = new Signpost(server.key, { baseUrl: server.api });
  for await (const domain of signpost.domains.all()) await signpost.domains.delete(domain.id);
  const { id, webhook_secret } = await signpost.domains.create({ domain: 'localhost', webhook_url: `${origin}/` });
  await signpost.domains.update(id, { handler: 'hosted', event_url: `${origin}/signpost/events` });
  const env = { ...process.env, API: server.api, KEY: server.key, PORT: String(port), WEBHOOK_SECRET: webhook_secret };
  const site = start(process.execPath, [new URL(`../recipes/${name}.mjs`, import.meta.url).pathname], { env });
  t.after(() => site.end());
  await answers(origin, site);
  return { origin, signpost };
}

const userOn = (page) => /<b id="user">(usr_\w+)<\/b>/.exec(page.text)?.[1];

for (const [name, cookie] of [['passport', 'session'], ['authjs', 'authjs.session-token']]) {
  test(`${name}: an account, and a second login with a session of its own`, async (t) => {
    const { origin } = await open(t, name);
    const person = new Person(server);
    assert.equal(userOn(await person.open(origin)), undefined);
    const home = await person.open(await person.answer(await person.open(`${origin}/signpost/register`)));
    const [user, session] = [userOn(home), home.cookies.get(cookie)];
    assert.match(user, /^usr_/);
    const again = await person.open(await person.answer(await person.open(`${origin}/signpost/login?next=/%3Fagain`)));
    assert.equal(again.url, `${origin}/?again`);
    assert.equal(userOn(again), user);
    assert.notEqual(again.cookies.get(cookie), session);
    // Only a logged-in user can add a key.
    assert.match((await person.open(`${origin}/signpost/link`)).url, /\/login\/sess_/);
    const stranger = await new Person(server).open(`${origin}/signpost/link`, { stop: true });
    assert.equal(stranger.location, '/signpost/login?next=%2Fsignpost%2Flink');
  });
}

test('passport: a logout invalidates the old cookie', async (t) => {
  const { origin } = await open(t, 'passport');
  const person = new Person(server);
  const home = await person.open(await person.answer(await person.open(`${origin}/signpost/register`)));
  const headers = { cookie: `session=${home.cookies.get('session')}` };
  assert.ok((await (await fetch(origin, { headers })).text()).includes(userOn(home)));
  await fetch(`${origin}/logout`, { method: 'POST', headers, redirect: 'manual' });
  assert.ok(!(await (await fetch(origin, { headers })).text()).includes(userOn(home)));
});

test('authjs: its endpoint shows the session, and rejects a forged one', async (t) => {
  const { origin } = await open(t, 'authjs');
  const person = new Person(server);
  const home = await person.open(await person.answer(await person.open(`${origin}/signpost/register`)));
  assert.equal(JSON.parse((await person.open(`${origin}/auth/session`)).text).user.id, userOn(home));
  const forged = `authjs.session-token=${home.cookies.get('authjs.session-token').slice(0, -3)}AAA`;
  assert.ok(!(await (await fetch(origin, { headers: { cookie: forged } })).text()).includes('usr_'));
});

test('the recipes show the code of these sites', () => {
  for (const name of ['passport', 'authjs']) {
    const page = readFileSync(new URL(`docs/recipes/${name}.md`, ROOT), 'utf8');
    const code = readFileSync(new URL(`../recipes/${name}.mjs`, import.meta.url), 'utf8');
    assert.ok(page.includes(`\`\`\`js\n${code}\`\`\``), `docs/recipes/${name}.md shows another text than recipes/${name}.mjs`);
  }
});
