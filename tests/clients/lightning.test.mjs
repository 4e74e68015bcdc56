// Third-party Lightning wallets and the command-line wallet: each reads the code of a login page and answers it, and the
// browser is logged in at the site.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { getParams } from 'js-lnurl';
import lnurl from 'lnurl';
import { Server } from '../pages/server.mjs';
import { run } from './program.mjs';

const timeout = 60_000;
let server;
let domain;

before(async () => {
  server = await Server.start({ SERVICES: 'auth' });
  domain = await server.ask('POST', '/domains', { domain: 'localhost', webhook_url: 'http://localhost:9/' });
  await server.ask('PATCH', `/domains/${domain.id}`, { handler: 'hosted' });
});
after(() => server.close());

/** Opens a login like a site, and its page like a browser. */
async function arrive(mode) {
  const secret = randomBytes(32).toString('base64url');
  const browser_hash = createHash('sha256').update(secret).digest('base64url');
  const metadata = { return_url: 'http://localhost:9/return' };
  const session = await server.ask('POST', '/sessions', { domain: 'localhost', flow: 'page', mode, browser_hash, metadata });
  const login = { session, secret, mode };
  await look(login);
  assert.equal(login.state, 'waiting');
  login.link = attribute(login.html, 'rel="signpost-lightning"', 'href');
  assert.match(login.link, /^lightning:lnurl1[a-z0-9]+$/);
  // The content of the QR code.
  login.code = login.link.replace('lightning:', '').toUpperCase();
  return login;
}

/** Loads the page, with its cookie. `fetch` marks requests as scripts', which do not open pages. */
async function look(login) {
  const [reply] = await once(get(login.session.page_url, { headers: login.cookie ? { cookie: login.cookie } : {} }), 'response');
  login.html = (await reply.setEncoding('utf8').toArray()).join('');
  login.state = attribute(login.html, 'id="main"', 'data-state');
  assert.equal(reply.statusCode, 200, login.state);
  login.cookie ??= reply.headers['set-cookie'].map((cookie) => cookie.split(';')[0]).join('; ');
}

/** Returns an attribute of the only element with the other attribute. */
function attribute(html, other, name) {
  const elements = html.match(/<[^>]+>/g).filter((element) => element.includes(` ${other}`));
  assert.equal(elements.length, 1, `${other} in ${html}`);
  return new RegExp(` ${name}="([^"]*)"`).exec(elements[0])[1].replaceAll('&amp;', '&');
}

/** Returns the browser to the site; returns the session as the site sees it. */
async function comeBack(login) {
  const path = `/sessions/${login.session.id}`;
  assert.equal((await server.ask('GET', path)).status, 'pending', 'the session is pending until the browser returns');
  await look(login);
  assert.equal(login.state, 'done');
  const back = new URL(attribute(login.html, 'id="continue"', 'href'));
  assert.equal(back.searchParams.get('session_id'), login.session.id);
  await server.ask('POST', `${path}/complete`, { code: back.searchParams.get('code'), browser_secret: login.secret });
  return server.ask('GET', path);
}

/** Registers and logs in with a wallet, and checks that both have the same user and this key. */
async function check(method, answer) {
  const people = [];
  for (const mode of ['register', 'login']) {
    const login = await arrive(mode);
    const key = await answer(login);
    const seen = await comeBack(login);
    assert.equal(seen.status, 'authenticated');
    assert.equal(seen.method, method);
    assert.equal(seen.user.public_key, key);
    people.push(seen.user.id);
  }
  assert.match(people[0], /^usr_/);
  assert.equal(people[1], people[0]);
  const { users } = await server.ask('GET', `/domains/${domain.id}/users`);
  const user = users.find((user) => user.id === people[0]);
  assert.deepEqual(user.credentials.map((credential) => credential.kind), [method === 'lightning' ? 'lightning' : 'wallet']);
}

/** Requests the URL with the wallet's parameters; the reply must be a login's. */
async function request(url, added) {
  for (const [name, value] of Object.entries(added)) url.searchParams.append(name, value);
  const reply = await fetch(url);
  assert.equal(reply.status, 200);
  assert.deepEqual(await reply.json(), { status: 'OK' });
}

function linkingKey() {
  const { pubKey, privKey } = lnurl.generateRandomLinkingKey();
  return { key: pubKey.toString('hex'), sign: (k1) => lnurl.createAuthorizationSignature(Buffer.from(k1, 'hex'), privKey) };
}

test('npm lnurl', { timeout }, async () => {
  const { key, sign } = linkingKey();
  await check('lightning', async ({ code, mode, session }) => {
    const url = new URL(lnurl.decode(code));
    const { tag, k1, action } = Object.fromEntries(url.searchParams);
    assert.deepEqual([url.host, tag, action], [new URL(server.origin).host, 'login', mode]);
    assert.equal(k1, createHash('sha256').update(session.challenge).digest('hex'));
    const sig = sign(k1).toString('hex');
    assert.ok(lnurl.verifyAuthorizationSignature(sig, k1, key));
    await request(url, { sig, key });
    return key;
  });
});

test('js-lnurl', { timeout }, async () => {
  const { key, sign } = linkingKey();
  await check('lightning', async ({ code }) => {
    const asked = await getParams(code);
    assert.deepEqual([asked.tag, asked.domain], ['login', 'localhost']);
    await request(new URL(asked.callback), { sig: sign(asked.k1).toString('hex'), key });
    return key;
  });
});

/** Wallets that are programs with a stored seed, and their output after a code. */
const KEEPERS = {
  'python lnurl': (code, seed) => run('venv/bin/python', ['lightning.py', code, seed]),
  'the crate lnurl-rs': (code, seed) => run(process.env.LNURL_RS, [code, seed]),
};

for (const [name, answer] of Object.entries(KEEPERS)) {
  test(name, { timeout }, async () => {
    const seed = randomBytes(32).toString('hex');
    await check('lightning', async ({ code }) => {
      const result = JSON.parse((await answer(code, seed)).stdout);
      assert.deepEqual([result.host, result.status], ['localhost', 'OK']);
      return result.key;
    });
  });
}

test('the command-line wallet, as a Lightning wallet', { timeout }, async () => {
  await server.command('wallet', 'new');
  await check('lightning', async ({ link }) => {
    const result = await server.command('wallet', 'lnurl', link, '--yes');
    assert.deepEqual([result.host, result.status], [new URL(server.origin).host, 'OK']);
    return result.public_key;
  });
  // Another wallet with the seed is the account's owner.
  const seed = readFileSync(join(server.folder, 'data', 'wallet.key'), 'utf8').trim();
  const known = await server.command('wallet', 'lnurl', (await arrive('login')).link, '--yes');
  for (const answer of Object.values(KEEPERS)) {
    const result = JSON.parse((await answer((await arrive('login')).code, seed)).stdout);
    assert.deepEqual([result.status, result.key], ['OK', known.public_key]);
  }
});

test('the command-line wallet, with the number', { timeout }, async () => {
  await check('scan', async ({ html }) => {
    const code = attribute(html, 'rel="signpost-code"', 'href');
    const number = /<output [^>]*id="number"[^>]*>(\d+)<\/output>/.exec(html)[1];
    const result = await server.command('wallet', 'scan', code, '--yes', '--confirm-code', number);
    return result.public_key;
  });
});

test('a wallet shows the error for an unknown key', { timeout }, async () => {
  const login = await arrive('login');
  const { key, sign } = linkingKey();
  const url = new URL(lnurl.decode(login.code));
  url.searchParams.set('sig', sign(url.searchParams.get('k1')).toString('hex'));
  url.searchParams.set('key', key);
  const reply = await fetch(url);
  const body = await reply.json();
  assert.deepEqual([reply.status, body.status], [200, 'ERROR']);
  assert.ok(body.reason.length <= 90 && /new code/.test(body.reason), body.reason);
  await look(login);
  assert.equal(login.state, 'create');
});
