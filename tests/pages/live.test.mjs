// The live environment over TLS: host-only cookies, and a complete login.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { back, codeOf, state } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';
import { CrookedWallet } from './wallets.mjs';

const stage = new Stage();
const proxied = new Map();
let proxy;
let port;

/** Creates a certificate for this test. */
function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'signpost-tls-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  const subject = ['-subj', '/CN=shop.test', '-addext', 'subjectAltName=DNS:shop.test,DNS:*.shop.test'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const made = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return made;
}

/** Terminates TLS and forwards the request to the server or the site, by its host. */
function pass(incoming, outgoing) {
  const target = proxied.get(incoming.headers.host.split(':')[0]);
  const headers = { ...incoming.headers, 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' };
  const passed = request({ host: '127.0.0.1', port: target, method: incoming.method, path: incoming.url, headers }, (reply) => {
    outgoing.writeHead(reply.statusCode, reply.rawHeaders);
    reply.pipe(outgoing);
  });
  passed.on('error', () => outgoing.destroy());
  outgoing.on('close', () => passed.destroy());
  incoming.pipe(passed);
}

before(async () => {
  proxy = createServer(certificate(), pass);
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  port = proxy.address().port;
  await stage.open({ PUBLIC_URL: `https://login.shop.test:${port}`, TRUSTED_PROXIES: '127.0.0.1/32' });
  proxied.set('login.shop.test', stage.server.port);
});
after(async () => {
  await stage.close();
  proxy.closeAllConnections();
  proxy.close();
});

test('a login over https uses a host-only cookie', async () => {
  const site = await stage.site('default', { environment: 'live', domain: 'shop.test', at: `https://www.shop.test:${port}` });
  proxied.set('www.shop.test', site.http.address().port);
  const visitor = await stage.visitor({ ignoreHTTPSErrors: true });
  const page = await visitor.open(`${site.origin}/register`);
  await state(page, 'waiting');
  assert.ok(page.url().startsWith(`https://login.shop.test:${port}/login/sess_`), page.url());
  const [cookie] = (await visitor.context.cookies(page.url())).filter(({ name }) => name.includes('signpost_page'));
  assert.deepEqual(
    { name: cookie.name, secure: cookie.secure, httpOnly: cookie.httpOnly, sameSite: cookie.sameSite, path: cookie.path, domain: cookie.domain },
    { name: '__Host-signpost_page', secure: true, httpOnly: true, sameSite: 'Lax', path: '/', domain: 'login.shop.test' },
  );
  assert.equal(await page.locator('a[rel="signpost-lightning"]').count(), 0);
  await checkLooks(page);
  const { code, number } = await codeOf(page);
  const address = `http://127.0.0.1:${stage.server.port}${new URL(new URLSearchParams(code.slice(code.indexOf('?') + 1)).get('webhook')).pathname}`;
  assert.equal((await new CrookedWallet().answer(code, number, { address })).status, 200);
  assert.match(await back(page), /^in usr_/);
  await stage.clear();
});
