// The card of the locator's tools, in an assistant.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Assistant } from './assistant.mjs';
import { Visitor, launch } from './browser.mjs';
import { KEPT, makeCard } from './card.mjs';
import { CARD_STATES, MACHINES, found } from './cards.mjs';
import { THEMES, violations } from './looks.mjs';
import { Server } from './server.mjs';

const HOSTILE = '<img src=x onerror="parent.postMessage(1,\'*\')"><script>alert(1)</script>';

let server;
let browser;
const visitors = [];
before(async () => {
  [server, browser] = await Promise.all([Server.start({ RATE_LIMIT_MCP: 'off' }), launch()]);
  const file = join(server.folder, 'machines.csv');
  writeFileSync(file, MACHINES);
  await server.command('atms', 'import', file);
});
afterEach(async () => {
  for (const visitor of visitors.splice(0)) await visitor.leave();
});
after(() => Promise.all([server.close(), browser.close()]));

async function open(options) {
  // The assistant's client first requests a stream, which this server does not have.
  const visitor = await Visitor.arrive(browser, [server.origin], { expected: [/^console: .* 405 .*\/mcp$/] });
  visitors.push(visitor);
  return Assistant.open(server, visitor, options);
}

/** Waits until the card has this status message. */
const says = (assistant, text) => assistant.card.getByRole('status').filter({ hasText: text }).waitFor();
const names = (assistant) => assistant.card.locator('h2').allTextContents();

test('the committed card equals its built parts', async () => {
  assert.equal(readFileSync(KEPT, 'utf8'), await makeCard(), 'npm --prefix tests/pages run card builds it again');
});

test('the card reports its features and size, and follows the theme', async () => {
  const assistant = await open({ context: { locale: 'en-US', styles: { variables: { '--color-background-primary': 'rgb(1, 2, 3)' } } } });
  await says(assistant, 'Looking');
  await assistant.do('call', 'find_nearest_bitcoin_atm', { location: 'Austin, TX', limit: 3 });
  await says(assistant, '3 of ');
  const height = await assistant.card.evaluate(() => document.documentElement.offsetHeight);
  // The card reports its size with the next frame.
  await assistant.page.waitForFunction((wanted) => window.assistant.seen.sizes.at(-1).height === wanted, height);
  const { initialized, sizes } = await assistant.seen();
  assert.equal(initialized, 1);
  assert.equal(sizes.at(-1).width, 1100);
  assert.ok(sizes[0].height < height, JSON.stringify(sizes));
  const ground = () => assistant.card.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const scheme = () => assistant.card.evaluate(() => document.documentElement.style.colorScheme);
  assert.deepEqual([await ground(), await scheme()], ['rgb(1, 2, 3)', 'light']);
  await assistant.do('change', { theme: 'dark', styles: { variables: { '--color-background-primary': 'rgb(4, 5, 6)' } }, safeAreaInsets: { top: 7, right: 0, bottom: 9, left: 0 } });
  await assistant.card.locator('html[style*="padding: 7px 0px 9px"]').waitFor();
  assert.deepEqual([await ground(), await scheme()], ['rgb(4, 5, 6)', 'dark']);
  assert.equal(await assistant.card.getByRole('heading', { level: 1 }).textContent(), 'Bitcoin ATMs: Austin, Texas');
  await assistant.do('change', { locale: 'es-MX' });
  await says(assistant, '3 de ');
  assert.equal(await assistant.card.locator('html').getAttribute('lang'), 'es-MX');
  await assistant.do('change', { locale: 'not a language' });
  assert.equal(await assistant.card.locator('html').getAttribute('lang'), 'es-MX');
});

test('the card shows the status of an ATM like the pages', async () => {
  const assistant = await open();
  await assistant.do('input', { location: 'Austin, TX' });
  await assistant.do('result', found());
  await says(assistant, '5 of 10');
  const statuses = () => assistant.card.locator('li p:nth-of-type(2)').allTextContents();
  await assistant.card.getByRole('button', { name: 'Show more' }).click();
  await says(assistant, '10 of 10');
  assert.deepEqual(await statuses(), [
    '● Open until Mon 10:00 PM · as of Nov 1, 2026',
    '○ Closed, opens Tue 7:00 AM · as of Nov 1, 2026',
    '⊖ Closed for now · as of Nov 1, 2026',
    '⊠ Out of service · nobody said when',
    '✕ Closed for good · as of Nov 1, 2026',
    '◇ Unknown: nobody checked since 2023 · as of Mar 4, 2023',
    '◇ Unknown: hours not known · as of Nov 1, 2026',
    '◇ Unknown: nobody said that it works',
    '◇ Unknown: 2 people say that it is gone; newest of 2026-11-20 · as of Nov 1, 2026',
    '● Open · as of Nov 1, 2026',
  ]);
  // A single report changes no status; it is quoted.
  assert.deepEqual(await assistant.card.locator('li p:nth-of-type(3)').allTextContents(), ['1 person says that it is gone; newest of 2026-11-20']);
  assert.equal(await assistant.card.getByRole('button', { name: 'Show more' }).count(), 0);
  const drawn = await assistant.card.locator('svg circle').evaluateAll((circles) => circles.map((circle) => Math.round(circle.getBoundingClientRect().width)));
  assert.ok(drawn.length === 2 + 10 && drawn.every((width) => width >= 18), `two rings and ten machines: ${drawn}`);
});

test('more ATMs come from the result, then from the server', async () => {
  const assistant = await open();
  await assistant.do('call', 'list_atms_by_city', { state: 'TX', city: 'Austin' });
  for (let shown = 5; shown < 50; shown += 5) {
    await says(assistant, `${shown} of 60`);
    await assistant.card.getByRole('button', { name: 'Show more' }).click();
  }
  await says(assistant, '50 of 60');
  assert.deepEqual((await assistant.seen()).calls, []);
  await assistant.card.getByRole('button', { name: 'Show more' }).press('Enter');
  await says(assistant, '55 of 60');
  const { calls } = await assistant.seen();
  assert.equal(calls.length, 1);
  assert.deepEqual({ ...calls[0].arguments, cursor: '' }, { state: 'TX', city: 'Austin', cursor: '' });
  assert.equal(calls[0].name, 'list_atms_by_city');
  const focused = await assistant.card.evaluate(() => document.activeElement.textContent);
  const all = await names(assistant);
  assert.deepEqual([focused, new Set(all).size], [all[50], 55]);
  await assistant.card.getByRole('button', { name: 'Show more' }).click();
  await says(assistant, '60 of 60');
  assert.equal(await assistant.card.getByRole('button').count(), 0);
});

test('controls without a supported function are hidden', async () => {
  const assistant = await open({ can: {} });
  await assistant.do('call', 'list_atms_by_city', { state: 'TX', city: 'Austin' });
  for (let shown = 5; shown < 50; shown += 5) {
    await says(assistant, `${shown} of 60`);
    await assistant.card.getByRole('button', { name: 'Show more' }).click();
  }
  await says(assistant, '50 of 60');
  assert.deepEqual([await assistant.card.getByRole('button').count(), await assistant.card.getByRole('link').count()], [0, 0]);
});

test('the assistant opens links, and its refusal is shown', async () => {
  const assistant = await open();
  const result = found();
  for (const atm of result.structuredContent.atms) atm.url = `https://atm.example.com/atm/${atm.id}`;
  await assistant.do('input', {});
  await assistant.do('result', result);
  const link = (name) => assistant.card.getByRole('link', { name });
  await link('Directions Corner Shop 1').click();
  await link('Not there? Corner Shop 2').press('Enter');
  await link('Source').first().click();
  // Links are requested by messages in order: the earlier links are open.
  await assistant.page.waitForFunction(() => window.assistant.seen.links.length === 3);
  await assistant.do('refuseLinks');
  await link('Directions Corner Shop 3').click();
  await says(assistant, 'Not opened.');
  const { lat, lon } = found().structuredContent.atms[2];
  assert.deepEqual((await assistant.seen()).links, [
    'https://www.google.com/maps/dir/?api=1&destination=30.267,-97.743',
    'https://atm.example.com/atm/2',
    'https://law.example/1',
    `https://www.google.com/maps/dir/?api=1&destination=${lat},${lon}`,
  ]);
});

test('without public pages there are no links', async () => {
  const assistant = await open();
  await assistant.do('result', found());
  await says(assistant, '5 of 10');
  assert.equal(await assistant.card.getByRole('link', { name: 'Not there?' }).count(), 0);
});

test('the card shows the oldest and the newest date of the data', async () => {
  const assistant = await open();
  const small = () => assistant.card.locator('main > div:last-child small').textContent();
  await assistant.do('result', found());
  await says(assistant, '5 of 10');
  assert.match(await small(), /^Data of Nov 1, 2026 · /);
  await assistant.do('result', found({ oldestDataAsOf: '2021-06-01T00:00:00Z' }));
  await assistant.card.getByText('Data of Jun 1, 2021 until Nov 1, 2026 · ').waitFor();
  await assistant.do('change', { locale: 'es-MX' });
  await assistant.card.getByText(/^Datos del 1 jun 2021 hasta 1 nov 2026 · /).waitFor();
});

test('a date that a shortened list does not repeat is the date of the last confirmation', async () => {
  const assistant = await open();
  const result = found();
  const { atms } = result.structuredContent;
  for (const atm of atms) {
    atm.lastConfirmed = atm.statusAsOf;
    delete atm.statusAsOf;
  }
  await assistant.do('result', result);
  await says(assistant, '5 of 10');
  const statuses = await assistant.card.locator('li p:nth-of-type(2)').allTextContents();
  assert.equal(statuses[0], '● Open until Mon 10:00 PM · as of Nov 1, 2026');
});

test('texts of third parties are not markup', async () => {
  const assistant = await open();
  await assistant.do('call', 'find_nearest_bitcoin_atm', { lat: 47.6, lon: -122.33 });
  await says(assistant, '1 of 1');
  const [name] = await names(assistant);
  assert.equal(name, '<img src=x onerror=alert(1)');
  const result = found();
  Object.assign(result.structuredContent.atms[0], { name: HOSTILE, address: HOSTILE, statusReason: HOSTILE });
  result.structuredContent.advisories[0] = { ...result.structuredContent.advisories[0], text: HOSTILE, sourceUrl: 'javascript:alert(1)' };
  Object.assign(result.structuredContent, { notice: HOSTILE, attribution: [HOSTILE], resolvedLocation: { lat: 30, lon: -97, name: HOSTILE } });
  await assistant.do('result', result);
  await says(assistant, '5 of 10');
  assert.equal((await names(assistant))[0], HOSTILE);
  const { card } = assistant;
  assert.equal(await card.locator('img, script:not(main ~ script), [onerror], a[href^="javascript"]').count(), 0);
  await assistant.do('result', { isError: true, content: [{ type: 'text', text: HOSTILE }] });
  await card.getByText(HOSTILE).waitFor();
  assert.equal(await card.locator('img').count(), 0);
});

test('only the assistant\'s messages are handled', async () => {
  const assistant = await open();
  await assistant.do('result', found());
  await says(assistant, '5 of 10');
  await assistant.card.evaluate((params) => window.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params }, '*'), { isError: true, content: [] });
  const answers = await assistant.page.evaluate(async () => {
    const frame = document.querySelector('iframe').contentWindow;
    const ask = (id, method) => new Promise((resolve) => {
      const hear = ({ source, data }) => {
        if (source !== frame || data.id !== id) return;
        removeEventListener('message', hear);
        resolve(data);
      };
      addEventListener('message', hear);
      frame.postMessage({ jsonrpc: '2.0', id, method }, '*');
    });
    return [await ask('p', 'ping'), await ask('u', 'ui/no-such-thing')];
  });
  assert.deepEqual(answers, [
    { jsonrpc: '2.0', id: 'p', result: {} },
    { jsonrpc: '2.0', id: 'u', error: { code: -32601, message: 'ui/no-such-thing' } },
  ]);
  await says(assistant, '5 of 10');
  assert.deepEqual(await assistant.do('teardown'), {});
  const { sizes } = await assistant.seen();
  await assistant.do('result', { isError: true, content: [{ type: 'text', text: 'Gone' }] });
  await assistant.card.getByText('Gone').waitFor();
  assert.deepEqual((await assistant.seen()).sizes, sizes);
});

test('a cancelled and an empty search are shown', async () => {
  const assistant = await open();
  await assistant.do('call', 'find_nearest_bitcoin_atm', { lat: 64.8, lon: -147.7, maxDistance: 1 });
  await says(assistant, 'None found.');
  await assistant.card.getByText(/The nearest/).waitFor();
  await assistant.do('call', 'find_nearest_bitcoin_atm', { location: 'Nowhere at all' });
  await says(assistant, 'It failed.');
  await assistant.card.getByText(/was not understood/).waitFor();
  await assistant.do('input', {});
  await says(assistant, 'Looking');
  await assistant.do('cancel');
  await says(assistant, 'It failed.');
});

test('a result with only its text is understood', async () => {
  const assistant = await open();
  await assistant.do('result', { content: [{ type: 'text', text: JSON.stringify(found().structuredContent) }] });
  await says(assistant, '5 of 10');
});

for (const [name, reach] of Object.entries(CARD_STATES)) {
  test(`looks: ${name}`, async () => {
    const assistant = await open();
    await reach(assistant);
    for (const width of [720, 320]) {
      await assistant.page.setViewportSize({ width, height: 900 });
      for (const colorScheme of THEMES) {
        await assistant.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await assistant.card.locator(`html[style*="color-scheme: ${colorScheme}"]`).waitFor();
        assert.deepEqual(await violations(assistant.card), [], `${width} px, ${colorScheme}`);
      }
      const wide = await assistant.card.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} px in ${width}`);
    }
    await checkKeys(assistant);
  });
}

/** Checks that Tab reaches all controls, in reading order, with a focus ring. */
async function checkKeys({ page, card }) {
  const all = await card.locator('a, button').count();
  await card.locator('h1').evaluate((heading) => {
    heading.tabIndex = -1;
    heading.focus();
  });
  for (let at = 0; at < all; at += 1) {
    await page.keyboard.press('Tab');
    const [is, ring] = await card.evaluate((number) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return [document.activeElement === document.querySelectorAll('a, button')[number], outlineStyle !== 'none' && Number.parseFloat(outlineWidth)];
    }, at);
    assert.deepEqual([is, ring], [true, 3], `stop ${at}`);
  }
}
