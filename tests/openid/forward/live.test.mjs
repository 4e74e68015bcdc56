// A live tenant over https, with certificates of a test authority: a relying party, and an application with forward auth,
// behind a real proxy that terminates TLS. Users scan with the command-line wallet, because live has no simulated wallet.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Server } from '../../pages/server.mjs';
import { Wallet } from '../../pages/wallets.mjs';
import { Person, attribute } from '../person.mjs';
import { Site } from '../site.mjs';
import { Application } from './application.mjs';
import { REMOTE, timeout } from './deployment.mjs';
import { reservePort } from '../../ports.mjs';
import { Proxy, nginxWithTls } from './proxy.mjs';

const DOMAIN = 'shop.example';
const folder = mkdtempSync(join(tmpdir(), 'signpost-tls-'));
const ca = join(folder, 'ca.pem');
let server, site, application, proxy, ports;

/** Creates an authority, and its certificate for this machine. */
function certify() {
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...key, '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  openssl('req', ...key.slice(0, 4), '-nodes', '-subj', '/CN=localhost', '-keyout', 'site.key', '-out', 'site.csr');
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'site.csr', ...signed, '-out', 'site.pem');
}

before(async () => {
  certify();
  // The wallet, and Python's requests.
  Object.assign(process.env, { SSL_CERT_FILE: ca, REQUESTS_CA_BUNDLE: ca });
  ports = { login: await reservePort(), site: await reservePort(), application: await reservePort() };
  server = await Server.start({ SERVICES: 'auth', PUBLIC_URL: `https://localhost:${ports.login}` });
  await server.host(DOMAIN, 'https://wallet.example/', {}, { environment: 'live' });
  const createClient = (uri, options) =>
    server.command('clients', 'create', '--domain', DOMAIN, '--live', '--redirect-uri', uri, ...options);
  application = await Application.start();
  const origin = `https://localhost:${ports.application}`;
  const { client_id: client } = await createClient(`${origin}/.signpost/callback`, ['--trusted', '--allow', 'group:staff']);
  const python = new URL('../venv/bin/python', import.meta.url).pathname;
  const example = new URL('../sites/example.py', import.meta.url).pathname;
  site = await Site.start({ createClient }, [python, example], { env: { ORIGIN: `https://localhost:${ports.site}` } });
  const kind = nginxWithTls(folder, [[ports.login, server.port], [ports.site, site.port]]);
  proxy = await Proxy.start(kind, ports.application, { client, signpost: server.port, application: application.port });
});
after(async () => {
  await proxy?.close();
  await site?.end();
  await application?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates a user with a browser and a wallet that trusts the login host. */
async function someone() {
  const wallet = await Wallet.make(server);
  const answer = async (page) => {
    const code = /<a [^>]*rel="signpost-code"[^>]*>/.exec(page.text)?.[0];
    const number = /<output [^>]*id="number"[^>]*>(\d+)</.exec(page.text)?.[1];
    await wallet.scan(attribute(code, 'href'), number, `localhost:${ports.login}`);
  };
  return new Person(answer, { ca: readFileSync(ca) });
}

const greeting = ({ text }) => /<b id="user">(usr_\w+)<\/b>/.exec(text)?.[1];

test('a live tenant logs in over https with host-only cookies', { timeout }, async () => {
  const person = await someone();
  const page = await person.open(`${site.origin}/login`);
  const sub = greeting(page);
  assert.ok(sub, `${page.status} ${page.url} ${page.text} ${site.output}`);
  assert.ok(person.met.includes('consent'), String(person.met));
  assert.ok(site.client.issuer.startsWith(`https://localhost:${ports.login}/dom_`), site.client.issuer);
  const cookies = await person.cookies(`https://localhost:${ports.login}/`);
  const ours = cookies.filter(({ key }) => key.includes('signpost'));
  assert.deepEqual(ours.map(({ key }) => key).sort(), ['__Host-signpost_login', '__Host-signpost_page']);
  for (const { key, secure, httpOnly, sameSite, path, hostOnly } of ours) {
    assert.deepEqual({ secure, httpOnly, sameSite, path, hostOnly }, { secure: true, httpOnly: true, sameSite: 'lax', path: '/', hostOnly: true }, key);
  }
  // A second login without a prompt; then a logout, and the login page.
  assert.equal(greeting(await person.open(`${site.origin}/login`)), sub);
  assert.deepEqual(person.met, []);
  await person.open(`${site.origin}/logout`);
  assert.equal(greeting(await person.open(`${site.origin}/login`)), sub);
  assert.deepEqual(person.met, ['login']);
});

test('forward auth over https uses a host-only cookie', { timeout }, async () => {
  const person = await someone();
  const origin = `https://localhost:${ports.application}`;
  const outside = await person.open(`${origin}/a`);
  assert.equal(outside.status, 403, outside.text);
  const { id } = await server.ask('GET', '/domains', undefined, { environment: 'live' }).then(({ domains }) => domains[0]);
  const { users } = await server.ask('GET', `/domains/${id}/users`, undefined, { environment: 'live' });
  const sub = users.map(({ id }) => id).sort().at(-1);
  await server.ask('PATCH', `/domains/${id}/users/${sub}`, { groups: ['staff'] }, { environment: 'live' });
  const page = await person.open(`${origin}/a?b=c`);
  assert.equal(page.status, 200, page.text);
  const received = JSON.parse(page.text);
  assert.equal(received.url, '/a?b=c');
  const remote = Object.fromEntries(received.headers.map(([name, value]) => [name.toLowerCase(), value]));
  assert.deepEqual([remote['remote-sub'], remote['remote-groups']], [sub, 'staff']);
  assert.equal(received.headers.filter(([name]) => /^remote[-_]/i.test(name)).length, REMOTE.length);
  const cookies = await person.cookies(`${origin}/`);
  for (const name of ['__Host-signpost_app', '__Host-signpost_state']) {
    const cookie = cookies.find(({ key }) => key === name);
    assert.ok(cookie?.secure && cookie.httpOnly && cookie.hostOnly && cookie.path === '/', name);
  }
  // The cookie without the prefix, which any host of the site could set.
  const plain = remote.cookie.replaceAll('__Host-', '');
  const asked = await fetchWith(plain);
  assert.equal(asked, 401);
  assert.equal(await fetchWith(remote.cookie), 200);
});

/** Returns the application's status for a request with these cookies. */
async function fetchWith(cookie) {
  const { request } = await import('node:https');
  const options = { headers: { cookie }, ca: readFileSync(ca), agent: false };
  return new Promise((resolve, reject) => {
    const sent = request(`https://localhost:${ports.application}/`, options);
    sent.on('response', (reply) => resolve(reply.resume().statusCode)).on('error', reject).end();
  });
}
