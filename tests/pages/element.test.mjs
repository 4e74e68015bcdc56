// `<signpost-login>` on a page of a site: `examples/element`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Visitor, launch } from './browser.mjs';
import { startExample } from './examples.mjs';
import { checkLooks } from './looks.mjs';
import { read } from './qr.mjs';
import { Server } from './server.mjs';

let server;
let browser;
let site;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  site = await startExample(server, 'element/site.mjs');
  await server.command('wallet', 'new');
});
after(() => Promise.all([server.close(), browser.close(), site.close()]));

const arrive = (options) => Visitor.arrive(browser, [site.origin, server.origin], options);

/** Answers a code with the number that the user typed. */
const scan = ({ code, number }) => server.command('wallet', 'scan', code, '--yes', '--confirm-code', number);

/** Returns the element's code for a wallet. */
async function codeOf(page) {
  const link = page.locator('signpost-login a[rel="signpost-code"]');
  return { code: await link.getAttribute('href'), number: await page.locator('signpost-login output').innerText(), drawn: await read(link.locator('svg')) };
}

test('a scanned code logs the user in at the site', async () => {
  const visitor = await arrive();
  const page = await visitor.open(`${site.origin}/register`);
  const shown = await codeOf(page);
  assert.equal(shown.drawn, shown.code);
  await checkLooks(page);
  await scan(shown);
  const user = await page.locator('#user').innerText();
  assert.notEqual(user, '');
  await visitor.leave();

  const again = await arrive({ locale: 'es-MX' });
  const other = await again.open(site.origin);
  await scan(await codeOf(other));
  assert.equal(await other.locator('#user').innerText(), user);
  await again.leave();
});

test('a cancelled session offers a new code', async () => {
  const visitor = await arrive({ expected: [/410/] });
  const page = await visitor.open(site.origin);
  const { code } = await codeOf(page);
  const { sessions } = await server.ask('GET', '/sessions?limit=1');
  await server.ask('DELETE', `/sessions/${sessions[0].id}`);
  await page.getByRole('button', { name: 'Show a new code' }).click();
  await page.locator('signpost-login a[rel="signpost-code"]').waitFor();
  assert.notEqual((await codeOf(page)).code, code);
  await visitor.leave();
});

test('a code is replaced before it expires', async () => {
  const short = await Server.start({ SESSION_TTL: '20s' });
  const shop = await startExample(short, 'element/site.mjs');
  const visitor = await Visitor.arrive(browser, [shop.origin, short.origin]);
  const page = await visitor.open(shop.origin);
  const { code } = await codeOf(page);
  const link = page.locator(`signpost-login a[rel="signpost-code"]:not([href="${code}"])`);
  await link.waitFor();
  assert.equal(await read(link.locator('svg')), await link.getAttribute('href'));
  await visitor.leave();
  await Promise.all([short.close(), shop.close()]);
});

test('the element reports a crash, and recovers', async () => {
  const visitor = await arrive({ expected: [/ERR_|status of 5/] });
  const page = await visitor.open(site.origin);
  await page.locator('signpost-login output').waitFor();
  await server.kill();
  await page.getByText('The server does not answer').waitFor();
  await server.start();
  await page.locator('signpost-login output').waitFor();
  await scan(await codeOf(page));
  await page.locator('#user').waitFor();
  await visitor.leave();
});
