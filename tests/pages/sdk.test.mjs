// The SDKs' example sites, each in its own language: logins on the service's page, or with the site's own handlers.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { Visitor, codeOf, heldBack, state } from './browser.mjs';
import { startSite } from './examples.mjs';
import { Stage } from './stage.mjs';

const ROOT = new URL('../../', import.meta.url).pathname;
const NODE = process.execPath;
const BUILT = dirname(resolve(process.env.SIGNPOST ?? `${ROOT}target/debug/signpost`));

/** The sites: their folder, command and requirements; `sh <folder>/test.sh --install` creates the latter. */
const SITES = [
  { name: 'Express', folder: 'sdk/typescript', command: [NODE, 'examples/express.mjs'], needs: 'dist/index.js' },
  { name: 'Fastify', folder: 'sdk/typescript', command: [NODE, 'examples/fastify.mjs'], needs: 'dist/index.js' },
  { name: 'Hono', folder: 'sdk/typescript', command: [NODE, 'examples/hono.mjs'], needs: 'dist/index.js' },
  { name: 'FastAPI', folder: 'sdk/python', command: ['venv/bin/python', 'examples/fastapi_site.py'], needs: 'venv/bin/python' },
  { name: 'Flask', folder: 'sdk/python', command: ['venv/bin/python', 'examples/flask_site.py'], needs: 'venv/bin/python' },
  { name: 'Django', folder: 'sdk/python', command: ['venv/bin/python', 'examples/django_site.py'], needs: 'venv/bin/python' },
  { name: 'net/http', folder: 'sdk/go', command: ['.cache/site'], needs: '.cache/site' },
  { name: 'axum', folder: BUILT, command: ['examples/site'], needs: 'examples/site', made: 'cargo build --examples' },
];
/** Sites that receive wallets' answers; the Rust site has separate tests. */
const HANDLERS = [
  { name: 'node:http', folder: 'sdk/typescript', command: [NODE, 'examples/handlers.mjs'], needs: 'dist/index.js' },
  { name: 'Python', folder: 'sdk/python', command: ['venv/bin/python', 'examples/handlers.py'], needs: 'venv/bin/python' },
  { name: 'Go', folder: 'sdk/go', command: ['.cache/handlers'], needs: '.cache/handlers' },
];

/** Maximum concurrent tests on a machine with two cores, while browsers wait for replies. */
const AT_ONCE = 3;

const stage = Stage.set({}, async () => {
  const opened = await Promise.allSettled([...SITES.map((site) => open(site, 'hosted')), ...HANDLERS.map((site) => open(site, 'direct'))]);
  // All sites are known by now, and are closed.
  const failed = opened.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
});

/** Starts a site for all of its tests, as the handler of `localhost` in a new account. */
async function open(site, handler) {
  const { name, folder, command, needs, made = `sh ${folder}/test.sh --install` } = site;
  const at = resolve(ROOT, folder);
  assert.ok(existsSync(join(at, needs)), `${join(folder, needs)} is not there: run ${made}`);
  site.account = name.toLowerCase().replace(/[^a-z]/g, '-');
  const domain = await ask(site, 'POST', '/domains', { domain: 'localhost', webhook_url: 'http://localhost:1/wallet' });
  const started = await startSite(stage.server, { folder: at, command, account: site.account, secret: domain.webhook_secret });
  stage.sites.push(started);
  site.origin = started.origin;
  const change = { handler, webhook_url: `${site.origin}/signpost/wallet/login`, event_url: `${site.origin}/signpost/events` };
  await ask(site, 'PATCH', `/domains/${domain.id}`, change);
}

const ask = ({ account }, method, path, body) => stage.server.ask(method, path, body, { account });

/** Creates a user for the duration of a test; the short sites have no icon. */
async function arrive(t, { origin }) {
  const visitor = await Visitor.arrive(stage.browser, [stage.server.origin, origin], { expected: [/\/favicon\.ico$/] });
  t.after(() => visitor.leave());
  return visitor;
}

/** Follows the link of a site to the login page. */
async function begin(t, site) {
  const visitor = await arrive(t, site);
  const page = await visitor.open(`${site.origin}/`);
  await page.getByRole('link', { name: 'Log in' }).click();
  await state(page, 'waiting');
  return { visitor, page };
}

async function scan(wallet, page) {
  const { code, number } = await codeOf(page);
  return wallet.scan(code, number);
}

/** Waits until the site's newest event is delivered, which may need a retry; fails if the site rejects it. */
async function delivered(site) {
  for (;;) {
    const { deliveries } = await ask(site, 'GET', '/deliveries?limit=1');
    if (deliveries[0]?.state === 'delivered') return;
    assert.equal(deliveries[0]?.last_status, undefined, deliveries[0]?.last_error);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('the sites of the SDKs', { concurrency: AT_ONCE }, () => {
  for (const example of SITES) {
    test(`${example.name}: a user logs in twice, and a planted code fails`, async (t) => {
      const { origin } = example;
      const wallet = await stage.wallet(example.name);
      const { visitor, page } = await begin(t, example);
      assert.equal((await scan(wallet, page)).status, 404);
      await state(page, 'create');
      assert.equal((await scan(wallet, page)).status, 200);
      const user = await page.locator('#user').innerText();
      assert.match(user, /^usr_/);
      const cookies = await visitor.context.cookies(origin);
      assert.ok(cookies.every((cookie) => cookie.httpOnly && cookie.sameSite === 'Lax'), JSON.stringify(cookies));
      assert.deepEqual(cookies.filter((cookie) => cookie.name.startsWith('signpost-')), [], 'a state that is left');

      const again = await begin(t, example);
      const returned = again.page.waitForRequest(`${origin}/signpost/return**`);
      await heldBack(again.page, `${origin}/signpost/return**`);
      assert.equal((await scan(wallet, again.page)).status, 200);
      const planted = (await returned).url();
      const victim = await arrive(t, example);
      const lured = await victim.open(planted);
      assert.equal(lured.url(), `${origin}/?login_error=other_browser`);
      assert.equal(await lured.locator('#user').count(), 0);
      // The other browser had no state, so the code is still valid for its owner.
      const owner = await again.visitor.open(planted);
      assert.equal(owner.url(), `${origin}/`);
      assert.equal(await owner.locator('#user').innerText(), user);
      await delivered(example);
    });

    test(`${example.name}: a cancelled login returns to the site`, async (t) => {
      const { origin } = example;
      const { page } = await begin(t, example);
      await page.locator('#cancel button').click();
      await page.waitForURL(`${origin}/?login_error=access_denied`);
      assert.equal(await page.locator('#user').count(), 0);
    });
  }

  for (const example of HANDLERS) {
    test(`${example.name}: a wallet registers and logs in at the site`, async (t) => {
      const { origin } = example;
      const wallet = await stage.wallet(`wallet of ${example.name}`);
      for (const path of ['/register', '/']) {
        const visitor = await arrive(t, example);
        const page = await visitor.open(origin + path);
        const code = await page.locator('a#link').getAttribute('href');
        assert.equal((await wallet.scan(code)).status, 200);
        await page.waitForURL(`${origin}/account`);
        await delivered(example);
      }
    });
  }
});
