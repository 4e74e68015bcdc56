// <signpost-login> on a site's own page, under that site's policy: the example as it stands.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';
import { CrookedWallet } from './wallets.mjs';

const EXAMPLE = fileURLToPath(new URL('../../examples/element/site.mjs', import.meta.url));
const stage = Stage.set({}, open);
let example;
let site;

/** A port that is free now. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the example. */
async function open() {
  const PORT = await freePort();
  site = `http://localhost:${PORT}`;
  await stage.server.host('localhost', `${site}/events`);
  const env = { ...process.env, API: `${stage.server.origin}/sandbox/v1`, KEY: await stage.server.key('sandbox', 'default'), PORT };
  example = spawn(process.execPath, [EXAMPLE], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  while (!(await fetch(site).catch(() => null))) assert.equal(example.exitCode, null, 'the example ended');
}
after(() => example.kill());

async function visit(address, options) {
  const visitor = await stage.visitor(options);
  visitor.origins.push(site);
  const page = await visitor.open(address);
  await page.locator('output').waitFor();
  return page;
}

test('creates an account and logs in with it', async () => {
  const wallet = await stage.wallet('element');
  for (const path of ['/register', '/']) {
    const page = await visit(site + path);
    const code = await page.locator('a[rel="signpost-code"]').getAttribute('href');
    assert.equal((await wallet.scan(code, await page.locator('output').innerText())).status, 200);
    await page.locator('#user').waitFor();
    assert.equal(await page.locator('#user').innerText(), wallet.publicKey);
  }
});

test('looks right, and takes the keyboard', async () => {
  await checkLooks(await visit(site));
});

test('says when the server is away, and goes on', async () => {
  const page = await visit(`${site}/register`, { expected: [/ERR_|status of 5/] });
  await stage.server.kill();
  await page.getByText('The server does not answer').waitFor();
  await stage.server.start();
  await page.locator('output').waitFor();
  const code = await page.locator('a[rel="signpost-code"]').getAttribute('href');
  assert.equal((await new CrookedWallet().answer(code, await page.locator('output').innerText())).status, 200);
  await page.locator('#user').waitFor();
});
