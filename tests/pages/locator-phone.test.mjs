// The locator's pages on a phone: results first, directions, the device's location, sharing, saving, large text, and print.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NARROW, Visitor, launch } from './browser.mjs';
import { importPlaces } from './locator-places.mjs';
import { checkLooks } from './looks.mjs';
import { Server } from './server.mjs';

const TOWN = '/atms/us/tx/austin';
const HERE = { latitude: 30.267153, longitude: -97.743057 };
/** The maximum height of 50 rows, in pixels. */
const LIST_HEIGHT = 5000;

let server;
let browser;
let machine;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  await importPlaces(server);
  await server.kill();
  await server.start();
  const page = await (await fetch(`${server.origin}${TOWN}`, { headers: { accept: 'text/html' } })).text();
  machine = /href="(\/atm\/\d+)"/.exec(page)[1];
});
after(() => Promise.all([server.close(), browser.close()]));

const arrive = (options) => Visitor.arrive(browser, [server.origin], { viewport: NARROW, ...options });

for (const place of ['Austin, TX', 'Chicago, IL', 'St. Louis, MO', 'Beverly Hills, CA', 'LAX']) {
  test(`the first results of ${place} are visible without scrolling`, async () => {
    const visitor = await arrive();
    for (const [height, whole] of [[660, 1], [844, 2]]) {
      const page = await visitor.open(`${server.origin}/near?q=${encodeURIComponent(place)}`);
      await page.setViewportSize({ width: 390, height });
      const bottoms = await page.locator('.machine').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().bottom));
      assert.equal(bottoms.length, 50);
      assert.ok(bottoms[whole - 1] <= height, `${whole} of ${height} px: ${bottoms.slice(0, 3)}`);
      const list = await page.locator('ol.machines').evaluate((rows) => rows.getBoundingClientRect().height);
      assert.ok(list <= LIST_HEIGHT, `${list} px`);
      await page.close();
    }
    await visitor.leave();
  });
}

test('facts that no ATM of a list has are stated once', async () => {
  const visitor = await arrive();
  const page = await visitor.open(`${server.origin}/near?q=Austin%2C+TX`);
  await page.getByText('We do not have opening hours for these machines.').waitFor();
  assert.equal(await page.locator('.machine').getByText(/not known/).count(), 0);
  assert.equal(await page.getByRole('link', { name: /^Open now/ }).count(), 0);
  await page.getByRole('link', { name: /^Pays out cash/ }).click();
  await page.waitForURL(/only=sell/);
  await page.getByRole('link', { name: /^All/ }).waitFor();
  await visitor.leave();
});

test('warnings are one line that opens', async () => {
  const visitor = await arrive({ javaScriptEnabled: false });
  const page = await visitor.open(`${server.origin}/near?q=LAX`);
  const line = page.locator('.warnings summary');
  assert.ok((await line.boundingBox()).height <= 48);
  assert.equal(await page.locator('.advisory').first().isVisible(), false);
  await line.click();
  await page.getByRole('link', { name: 'ReportFraud.ftc.gov' }).waitFor();
  await page.goto(`${server.origin}${machine}`);
  const [warning, directions] = await Promise.all([page.locator('.advisory').last().boundingBox(), page.locator('#directions').boundingBox()]);
  assert.ok(warning.y + warning.height <= directions.y, 'the whole warning is above the directions');
  await visitor.leave();
});

for (const path of ['/', '/near?q=Chicago%2C+IL', TOWN, 'machine']) {
  test(`near me searches around the rounded location from ${path}`, async () => {
    const visitor = await arrive({ permissions: ['geolocation'], geolocation: HERE });
    const page = await visitor.open(`${server.origin}${path === 'machine' ? machine : path}`);
    await page.getByRole('button', { name: 'Near me' }).click();
    await page.waitForURL((url) => url.pathname === '/near' && url.search === '?lat=30.267&lon=-97.743&here=1');
    await page.getByRole('heading', { name: 'Bitcoin ATMs near you' }).waitFor();
    await page.getByText('your location, rounded to three decimals (about 100 m)').waitFor();
    assert.equal(await page.locator('.map .m-me').count(), 1);
    await visitor.leave();
  });
}

test('the language persists in a search near me', async () => {
  const visitor = await arrive({ permissions: ['geolocation'], geolocation: HERE });
  const page = await visitor.open(`${server.origin}${TOWN}?lang=es`);
  await page.getByRole('button', { name: 'Cerca de mí' }).click();
  await page.getByRole('heading', { name: 'Cajeros de Bitcoin cerca de ti' }).waitFor();
  await checkLooks(page);
  await visitor.leave();
});

test('without permission near me asks for a place', async () => {
  const visitor = await arrive();
  const page = await visitor.open(`${server.origin}/`);
  await page.getByRole('button', { name: 'Near me' }).click();
  await page.getByRole('status').filter({ hasText: 'Your browser did not share your location.' }).waitFor();
  await visitor.leave();
});

test('on an http page near me explains why it cannot work', async () => {
  const origin = `http://atms.test:${server.port}`;
  const visitor = await Visitor.arrive(browser, [origin], { viewport: NARROW, expected: [/Cross-Origin-Opener-Policy/] });
  const page = await visitor.open(`${origin}/`);
  await page.getByRole('button', { name: 'Near me' }).click();
  await page.getByRole('status').filter({ hasText: 'Browsers share a location only with https pages' }).waitFor();
  assert.equal(page.url(), `${origin}/`);
  await visitor.leave();
});

test('without scripts near me asks for a place', async () => {
  const visitor = await arrive({ javaScriptEnabled: false });
  const page = await visitor.open(`${server.origin}${TOWN}`);
  await page.getByRole('button', { name: 'Near me' }).click();
  await page.getByText('“Near me” needs JavaScript.').waitFor();
  await visitor.leave();
});

const PHONES = {
  iPhone: ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1', /^https:\/\/maps\.apple\.com\/\?daddr=/, false],
  Android: ['Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36', /^https:\/\/www\.google\.com\/maps\/dir\/\?api=1/, true],
  Linux: [undefined, /^https:\/\/www\.google\.com\/maps\/dir\/\?api=1/, false],
};
for (const [name, [userAgent, link, hasOtherApp]] of Object.entries(PHONES)) {
  test(`directions fit ${name}`, async () => {
    const visitor = await arrive({ userAgent });
    const page = await visitor.open(`${server.origin}${machine}`);
    await page.getByRole('button', { name: 'Save' }).waitFor();
    assert.match(await page.getByRole('link', { name: 'Directions' }).getAttribute('href'), link);
    assert.equal(await page.locator('a[href^="geo:"]').isVisible(), hasOtherApp);
    for (const other of ['Google Maps', 'Apple Maps', 'OpenStreetMap']) await page.locator('p.ways').getByRole('link', { name: other }).waitFor();
    await visitor.leave();
  });
}

test('an ATM is shared', async () => {
  const visitor = await arrive({ permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await visitor.open(`${server.origin}${machine}?lang=en`);
  await page.getByRole('button', { name: 'Share' }).click();
  // This browser has no dialog for sharing.
  await page.getByRole('status').filter({ hasText: 'The link is copied.' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${server.origin}${machine}`);
  await page.context().addInitScript(() => {
    navigator.share = async (content) => window.shared.push(content);
    window.shared = [];
  });
  await page.reload();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.waitForFunction(() => window.shared.length === 1);
  assert.equal(await page.evaluate(() => window.shared[0].url), `${server.origin}${machine}`);
  await visitor.leave();
});

test('an ATM is saved in the browser', async () => {
  const visitor = await arrive();
  const page = await visitor.open(`${server.origin}${machine}`);
  const name = await page.locator('h1').textContent();
  await page.getByRole('button', { name: 'Save', pressed: false }).click();
  await page.getByRole('status').filter({ hasText: 'Saved in this browser.' }).waitFor();
  await page.getByRole('button', { name: 'Save', pressed: true }).waitFor();
  await page.goto(`${server.origin}/`);
  const list = page.getByRole('region', { name: 'Saved in this browser' });
  await list.getByRole('link', { name }).click();
  await page.waitForURL(`${server.origin}${machine}`);
  await page.getByRole('button', { name: 'Save', pressed: true }).waitFor();
  await page.goto(`${server.origin}/?lang=es`);
  await checkLooks(page);
  await page.getByRole('button', { name: `Quitar: ${name}` }).click();
  await page.locator('#saved').waitFor({ state: 'hidden' });
  await page.goto(`${server.origin}${machine}`);
  await page.getByRole('button', { name: 'Save', pressed: false }).waitFor();
  await visitor.leave();
});

test('foreign content in the storage of the browser is text', async () => {
  const visitor = await arrive();
  const page = await visitor.open(`${server.origin}/`);
  for (const stored of ['nothing', '{"id":"1"}', 'null', '[null,{"id":"../x"},{"id":"1","title":"<img src=x onerror=alert(1)>"}]']) {
    await page.evaluate((text) => localStorage.setItem('signpost-atms', text), stored);
    await page.reload();
    assert.equal(await page.locator('#saved li').count(), stored.startsWith('[') ? 1 : 0, stored);
    assert.equal(await page.locator('#saved img').count(), 0);
  }
  assert.equal(await page.locator('#saved a').getAttribute('href'), '/atm/1');
  await visitor.leave();
});

/** Returns the words that are broken between two lines, except for names of hosts and code. */
function brokenWords() {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('.vh, .search .primary, code, script, noscript, svg')) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\s/·–:-]+/g)) {
      if (/\w\.\w/.test(word)) continue;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0.5).map(({ bottom }) => Math.round(bottom / 4)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
}

for (const path of ['/', '/near?q=LAX', '/near?q=St.+Louis%2C+MO&lang=es', TOWN, 'machine', '/map', '/about/data']) {
  test(`text of twice the size has whole words on ${path}`, async () => {
    const visitor = await arrive();
    const page = await visitor.open(`${server.origin}${path === 'machine' ? machine : path}`);
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
    assert.deepEqual(await page.evaluate(brokenWords), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= NARROW.width);
    await visitor.leave();
  });
}

test('a printed page has the facts without controls', async () => {
  const visitor = await arrive();
  const page = await visitor.open(`${server.origin}${machine}`);
  await page.emulateMedia({ media: 'print' });
  for (const part of ['.search', '.scripted', '#right', '.top nav']) assert.equal(await page.locator(part).isVisible(), false, part);
  for (const part of ['h1', '#address', '.verdict', '.advisory', '.facts']) assert.ok(await page.locator(part).first().isVisible(), part);
  await visitor.leave();
});
