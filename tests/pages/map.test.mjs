// The map: moved by mouse, wheel, fingers and keys, in both themes, with and without a script.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MACHINES, drawn, importMachines } from './atlas.mjs';
import { NARROW, Visitor, launch } from './browser.mjs';
import { checkLooks, tabTo } from './looks.mjs';
import { Server } from './server.mjs';

const AUSTIN = '#12.0/30.27000/-97.74500';

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  await importMachines(server);
  await server.kill();
  await server.start();
});
after(() => Promise.all([server.close(), browser.close()]));

/** Opens the map at a place, and waits until it is drawn. */
async function at(place, options) {
  const visitor = await Visitor.arrive(browser, [server.origin], options);
  const page = await visitor.open(`${server.origin}/map${place}`);
  await drawn(page);
  return { visitor, page };
}

/** Waits until the place in the address changes; returns its zoom. */
async function moves(page, act) {
  const before = page.url();
  await act();
  await page.waitForURL((url) => url.href !== before);
  return Number(new URL(page.url()).hash.slice(1).split('/')[0]);
}

test('the map works in each language', async () => {
  const { visitor, page } = await at('');
  await page.getByText(`${MACHINES.length} machines`).waitFor();
  await checkLooks(page);
  await page.goto(`${server.origin}/map?lang=es${AUSTIN}`);
  await page.getByRole('heading', { name: '12 cajeros a la vista' }).waitFor();
  await checkLooks(page);
  await visitor.leave();
});

test('ring labels use the number format of the language', async () => {
  for (const [query, length] of [['', /^0\.\d$/], ['?lang=es', /^0,\d$/]]) {
    const { visitor, page } = await at(`${query}#15.5/30.27000/-97.74500`);
    await page.locator('.ring[data-length]').first().waitFor();
    const lengths = await page.locator('.ring').evaluateAll((rings) => rings.map((ring) => ring.dataset.length));
    assert.ok(lengths.length === 2 && lengths.every((text) => length.test(text)), `${query}: ${lengths}`);
    await visitor.leave();
  }
});

test('a city has markers and a list, and a marker opens an ATM', async () => {
  const { visitor, page } = await at(AUSTIN);
  await page.getByRole('heading', { name: '12 machines in sight' }).waitFor();
  await page.locator('[role="status"]', { hasText: '12 machines in sight' }).waitFor();
  assert.equal(await page.locator('.in-sight .machine').count(), 12);
  const mark = page.locator('.names a').first();
  await mark.click();
  await page.waitForURL(/\/atm\/\d+$/);
  await page.goBack();
  await page.getByRole('heading', { name: '12 machines in sight' }).waitFor();
  await visitor.leave();
});

test('keys move, zoom, and list the ATMs in the middle', async () => {
  const { visitor, page } = await at(AUSTIN);
  await tabTo(page, 'canvas');
  assert.equal(await moves(page, () => page.keyboard.press('+')), 13);
  assert.equal(await moves(page, () => page.keyboard.press('-')), 12);
  for (const key of ['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown']) await moves(page, () => page.keyboard.press(key));
  await page.waitForURL(/#12\.0\/30\.2[67]/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/near\?lat=30\.2\d+&lon=-97\.7\d+$/);
  await visitor.leave();
});

test('the mouse drags, zooms, and lists ATMs', async () => {
  const { visitor, page } = await at(AUSTIN);
  const { x, y, width, height } = await page.locator('canvas').boundingBox();
  const [right, down] = [x + width / 2, y + height / 2];
  await moves(page, async () => {
    await page.mouse.move(right, down + 100);
    await page.mouse.down();
    await page.mouse.move(right - 90, down + 100, { steps: 3 });
    await page.mouse.up();
  });
  assert.match(page.url(), /\/map#12\.0/);
  assert.ok((await moves(page, () => page.mouse.wheel(0, -300))) > 12);
  await page.mouse.click(x + 20, y + height - 60);
  await page.waitForURL(/\/near\?lat=30\.\d+&lon=-97\.\d+$/);
  await visitor.leave();
});

test('two fingers zoom', async () => {
  const { visitor, page } = await at(AUSTIN, { viewport: NARROW, hasTouch: true });
  const { x, y, width, height } = await page.locator('canvas').boundingBox();
  const session = await page.context().newCDPSession(page);
  const touch = (type, apart) => {
    const touchPoints = apart === undefined ? [] : [-1, 1].map((side, id) => ({ id, x: x + width / 2 + side * apart, y: y + height / 2 + 60 }));
    return session.send('Input.dispatchTouchEvent', { type, touchPoints });
  };
  await touch('touchStart', 30);
  for (const apart of [40, 50, 60]) await touch('touchMove', apart);
  await touch('touchEnd');
  await page.waitForURL(/\/map#13\.0\//);
  await visitor.leave();
});

test('the device\'s location is requested by the button', async () => {
  const { visitor, page } = await at('', { permissions: ['geolocation'], geolocation: { latitude: 38.58, longitude: -121.48 } });
  assert.equal(new URL(page.url()).hash.includes('/38.58'), false);
  await page.getByRole('button', { name: 'Use my location' }).click();
  await page.waitForURL(/#12\.0\/38\.58000\/-121\.48000$/);
  await page.getByText('These are the 30 nearest to the middle.').waitFor();
  assert.ok(await page.locator('.names .you').getByText('You').isVisible());
  await visitor.leave();
});

test('an empty map names the nearest ATM', async () => {
  const { visitor, page } = await at('#12.0/35.00000/-110.00000');
  await page.getByText(/^The nearest is .*, \d+ mi\.$/).getByRole('link').waitFor();
  await visitor.leave();
});

test('without a location the map is unchanged', async () => {
  const { visitor, page } = await at('');
  await page.getByRole('button', { name: 'Use my location' }).click();
  await page.getByText('Your device does not share its location.').waitFor();
  await page.getByRole('button', { name: 'Closer' }).click();
  await visitor.leave();
});

test('finer outlines are loaded for the visible squares of the earth', async () => {
  for (const [place, expected] of [['#6.0/51.00000/20.00000', ['4-2.txt']], ['#4.0/51.00000/20.00000', []]]) {
    const { visitor, page } = await at(place);
    await page.waitForFunction((count) => performance.getEntriesByType('resource').filter(({ name }) => /\d-\d\.txt$/.test(name)).length >= count, expected.length);
    const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1)));
    assert.deepEqual(names.filter((name) => /^\d-\d\.txt$/.test(name)), expected);
    assert.ok(names.includes('world.txt') && names.includes('states.txt'), `${names}`);
    await visitor.leave();
  }
});

test('without its dots the page has the states', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { expected: [/^console: Failed to load resource.*\/map\/points$/] });
  await visitor.context.route('**/map/points', (route) => route.abort('connectionfailed'));
  const page = await visitor.open(`${server.origin}/map`);
  await drawn(page);
  await page.getByRole('link', { name: 'Texas' }).waitFor();
  await visitor.leave();
});

test('without scripts the page has the states and a drawing', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { javaScriptEnabled: false });
  const page = await visitor.open(`${server.origin}/map`);
  await page.getByRole('img', { name: `Map of ${MACHINES.length} machines` }).waitFor();
  for (const [state, count] of [['Texas', 15], ['California', 60], ['Alaska', 1]]) {
    await page.getByRole('listitem').filter({ hasText: state }).getByText(String(count), { exact: true }).waitFor();
  }
  assert.equal(await page.locator('canvas').isVisible(), false);
  await page.getByRole('link', { name: 'Texas' }).click();
  await page.waitForURL(/\/atms\/us\/tx$/);
  await visitor.leave();
});
