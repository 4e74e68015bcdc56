// The locator's pages: with and without scripts, in both languages, and with texts of third parties.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { PATIENCE, Visitor, launch } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Server } from './server.mjs';

const MACHINES = `ref,name,operator,lat,lon,street,city,region,postcode,country,status,hours,phone,website,buy,sell
1,Corner Market,Example Coin,30.268,-97.743,120 Sample St,Austin,TX,78701,US,in service,Mo-Su 08:00-22:00,+1 555 0100,https://example.com,yes,yes
2,Lakeside Laundry,Example Coin,30.280,-97.750,88 Placeholder Ave,Austin,TX,78701,US,in service,24/7,,,yes,no
3,"<script alert(1) <img src=x onerror=alert(1)","""><svg onload=alert(1)",30.300,-97.730,14 Invented Rd,Austin,TX,78702,US,,,,javascript:alert(1),,
4,Quarry Mall,Northfork,30.310,-97.720,900 Fictional Pkwy,Austin,TX,78702,US,out of service,,,,yes,
5,City Hall Kiosk,Example Coin,44.978,-93.265,5 Madeup Ln,Minneapolis,MN,55401,US,in service,24/7,,,yes,yes
`;
const CITY = '/atms/us/tx/austin';

let server;
let browser;
let machines;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  const file = join(server.folder, 'machines.csv');
  writeFileSync(file, MACHINES);
  await server.command('atms', 'import', file, '--source', 'machines', '--attribution', 'Machines of a test');
  const deadline = Date.now() + PATIENCE;
  while (!(machines = await listed()).has('Corner Market')) assert.ok(Date.now() < deadline, 'the import is not shown');
});
after(() => Promise.all([server.close(), browser.close()]));

/** Returns the addresses of a city's ATMs by their names. */
async function listed() {
  const page = await (await fetch(`${server.origin}${CITY}?only=${Math.random()}`)).text();
  return new Map([...page.matchAll(/<a href="(\/atm\/\d+)"><bdi>([^<]*)<\/bdi>/g)].map(([, path, name]) => [name, path]));
}

const addresses = () => ['/', '/atms/us', '/atms/us/tx', CITY, '/atms/us/mn/minneapolis', ...machines.values(), '/about/data', '/near?q=Austin%2C+TX',
  '/near?q=Anchorage', '/near?q=near+me'];

for (const lang of ['en', 'es']) {
  test(`every page has the right layout (${lang})`, async () => {
    for (const address of addresses()) {
      const visitor = await Visitor.arrive(browser, [server.origin]);
      const page = await visitor.open(`${server.origin}${address}${address.includes('?') ? '&' : '?'}lang=${lang}`);
      assert.equal(await page.locator('html').getAttribute('lang'), lang);
      await checkLooks(page);
      await visitor.leave();
    }
  });
}

test('search and navigation work without scripts', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { javaScriptEnabled: false });
  const page = await visitor.open(`${server.origin}/`);
  await page.getByRole('searchbox').fill('Austin, TX');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('heading', { name: 'Bitcoin ATMs near Austin, Texas' }).waitFor();
  await page.getByRole('link', { name: 'Corner Market' }).click();
  await page.getByRole('heading', { name: 'Corner Market', level: 1 }).waitFor();
  const directions = await page.getByRole('link', { name: 'Directions' }).getAttribute('href');
  assert.equal(directions, 'https://www.google.com/maps/dir/?api=1&destination=30.268000%2C-97.743000');
  assert.equal(await page.locator('a[href^="geo:"]').isVisible(), false);
  await page.getByRole('link', { name: 'Austin' }).first().click();
  await page.waitForURL((url) => url.pathname === CITY);
  assert.equal(await page.locator('.machine').count(), 4);
  const city = page.url();
  await page.getByRole('link', { name: /^Pays out cash/ }).click();
  await page.waitForURL((url) => url.href !== city);
  assert.equal(await page.locator('.machine').count(), 1);
  await visitor.leave();
});

test('scripts add a button that copies an address', async () => {
  const path = machines.get('Corner Market');
  const visitor = await Visitor.arrive(browser, [server.origin], { permissions: ['clipboard-read', 'clipboard-write'] });
  for (const [lang, word, message] of [['en', 'Copy address', 'The address is copied.'], ['es', 'Copiar dirección', 'La dirección está copiada.']]) {
    const page = await visitor.open(`${server.origin}${path}?lang=${lang}`);
    await page.getByRole('button', { name: word }).click();
    await page.getByRole('status').filter({ hasText: message }).waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^120 Sample St, Austin, TX 78701/);
    await checkLooks(page);
  }
  await visitor.leave();
  const plain = await Visitor.arrive(browser, [server.origin], { javaScriptEnabled: false });
  const page = await plain.open(`${server.origin}${path}`);
  assert.equal(await page.locator('#copy').isVisible(), false);
  await plain.leave();
});

test('the chosen language persists', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}${CITY}?only=sell`);
  await page.getByRole('link', { name: 'Español' }).click();
  await page.locator('html[lang="es"]').waitFor();
  await page.waitForLoadState();
  assert.equal(await page.locator('.machine').count(), 1);
  await page.getByRole('link', { name: 'Corner Market' }).click();
  await page.locator('html[lang="es"]').waitFor();
  await visitor.leave();
});

test('legal notices come first, and bans close ATMs', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/atms/us/mn/minneapolis`);
  const titles = await page.locator('.advisory h2').allTextContents();
  assert.match(titles[0], /^Minnesota law forbids/);
  assert.equal(await page.locator('.advisory').first().isVisible(), false);
  await page.locator('.warnings summary').filter({ hasText: 'Minnesota law forbids' }).click();
  await page.locator('.advisory').first().waitFor();
  assert.match(await page.locator('.machine .chip').textContent(), /^Unknown: state law since/);
  await visitor.leave();
});

test('texts of third parties are not markup', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  for (const address of addresses()) {
    const page = await visitor.open(`${server.origin}${address}`);
    const wrong = await page.evaluate(() => [...document.querySelectorAll('script:not([type="application/ld+json"], [src^="/assets/"]), img, [onload], [onerror], [href^="javascript"]')].map((one) => one.outerHTML));
    assert.deepEqual(wrong, [], address);
    await page.close();
  }
  await visitor.leave();
});

test('all links of the pages work', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const links = new Set();
  for (const address of addresses()) {
    const page = await visitor.open(`${server.origin}${address}`);
    for (const link of await page.locator('a').evaluateAll((all) => all.map((link) => link.href))) links.add(link.split('#')[0]);
    await page.close();
  }
  // The map has separate tests.
  const ours = [...links].filter((link) => link.startsWith(server.origin) && new URL(link).pathname !== '/map');
  for (const link of ours) assert.equal((await fetch(link, { headers: { accept: 'text/html' } })).status, 200, link);
  await visitor.leave();
});
