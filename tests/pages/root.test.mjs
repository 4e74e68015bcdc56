// The public pages.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Visitor, launch } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Server } from './server.mjs';

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
});
after(() => Promise.all([server.close(), browser.close()]));

test('the first page has the right layout in each language', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/`);
  await checkLooks(page);
  await page.getByRole('link', { name: 'Español' }).click();
  await page.locator('html[lang="es"]').waitFor();
  await checkLooks(page);
  await visitor.leave();
});

test('an unknown address links to the first page', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { expected: [/^console: .* 404 .*\/nothing$/] });
  const page = await visitor.open(`${server.origin}/nothing`);
  await checkLooks(page);
  await page.getByRole('main').getByRole('link').click();
  assert.equal(page.url(), `${server.origin}/`);
  await page.getByRole('heading', { name: /^What runs at / }).waitFor();
  await visitor.leave();
});

test('all links of the first page work', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/`);
  const all = await page.locator('main a').evaluateAll((found) => found.map((link) => link.href));
  // Sources of legal notices have external pages.
  const links = all.filter((link) => link.startsWith(server.origin));
  assert.ok(links.length > 0);
  for (const link of links) assert.equal((await fetch(link, { headers: { accept: 'text/html' } })).status, 200, link);
  await visitor.leave();
});
