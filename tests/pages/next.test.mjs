// The route of Next.js of the TypeScript SDK, built for production: its `<Link>` prefetches each address.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { Visitor, codeOf, state } from './browser.mjs';
import { startSite } from './examples.mjs';
import { Stage } from './stage.mjs';
import { Wallet } from './wallets.mjs';

const run = promisify(execFile);
const SOURCE = new URL('next/', import.meta.url).pathname;
const SDK = new URL('../../sdk/typescript/', import.meta.url).pathname;
const NEXT = join(SOURCE, 'node_modules/next/dist/bin/next');
const LINKS = 50;
// Next.js reads packages only below its root.
const folder = mkdtempSync(join(SOURCE, 'site-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const stage = Stage.set({}, async () => {
  assert.ok(existsSync(join(SDK, 'dist/index.js')), 'run sh sdk/typescript/test.sh --install');
  for (const name of ['app', 'package.json', 'next.config.mjs']) cpSync(join(SOURCE, name), join(folder, name), { recursive: true });
  cpSync(join(SDK, 'examples/next'), folder, { recursive: true });
  for (const name of ['dist', 'package.json']) cpSync(join(SDK, name), join(folder, 'node_modules/@signpost/sdk', name), { recursive: true });
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  const domain = stage.server.host('localhost', 'http://localhost:1/wallet');
  await run(process.execPath, [NEXT, 'build'], { cwd: folder }).catch(({ stdout, stderr }) => assert.fail(stdout + stderr));
  const site = await startSite(stage.server, { folder, command: [process.execPath, NEXT, 'start'], secret: (await domain).webhook_secret });
  stage.sites.push(site);
});

/** Creates a user whose browser shows all links; returns the visitor and the replies to prefetches, by address. */
async function arrive(t) {
  const [{ origin }] = stage.sites;
  const options = { viewport: { width: 800, height: 2400 }, expected: [/\/favicon\.ico$/] };
  const visitor = await Visitor.arrive(stage.browser, [stage.server.origin, origin], options);
  t.after(() => visitor.leave());
  const prefetched = new Map();
  visitor.context.on('response', (reply) => {
    const headers = reply.request().headers();
    if ('next-router-prefetch' in headers) prefetched.set(new URL(reply.url()).pathname + nextOf(reply), reply.status());
  });
  return { visitor, origin, prefetched };
}

const nextOf = (reply) => new URL(reply.url()).searchParams.get('next') ?? '';
const sessions = async () => (await stage.server.ask('GET', '/sessions?limit=100')).sessions;

/** Waits until this many addresses below a path were prefetched. */
async function prefetches(visitor, prefetched, path, count) {
  const found = () => [...prefetched].filter(([address]) => address.startsWith(path));
  while (found().length < count) await visitor.context.waitForEvent('response');
  return found();
}

test('fifty prefetches create no session, and a click creates one', async (t) => {
  const { visitor, origin, prefetched } = await arrive(t);
  const page = await visitor.open(`${origin}/`);
  const replies = await prefetches(visitor, prefetched, '/signpost/login', LINKS);
  assert.deepEqual(new Set(replies.map(([, status]) => status)), new Set([204]));
  assert.deepEqual(await sessions(), []);
  assert.deepEqual(await visitor.context.cookies(), []);

  await page.getByRole('link', { name: 'Log in to buy 7', exact: true }).click();
  await state(page, 'waiting');
  assert.equal((await sessions()).length, 1);

  // The login that follows ends at the product, and a prefetch of the logout ends nothing.
  const wallet = await Wallet.make(stage.server);
  for (const shown of ['waiting', 'create']) {
    await state(page, shown);
    const { code, number } = await codeOf(page);
    await wallet.scan(code, number);
  }
  await page.waitForURL(`${origin}/product/7`);
  const user = await page.locator('#user').textContent();
  assert.match(user, /^usr_/);
  await page.goto(`${origin}/`);
  const [[, status]] = await prefetches(visitor, prefetched, '/signpost/logout', 1);
  assert.equal(status, 204);
  await page.reload();
  assert.equal(await page.locator('#user').textContent(), user);
  await page.getByRole('link', { name: 'Log out' }).click();
  await page.getByRole('link', { name: 'Log in to buy 0', exact: true }).waitFor();
  assert.equal((await sessions()).length, 1);
});
