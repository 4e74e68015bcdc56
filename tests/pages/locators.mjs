// The locator's pages with reported ATMs: for layout checks and screenshots.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Assistant } from './assistant.mjs';
import { drawn } from './atlas.mjs';
import { PATIENCE } from './browser.mjs';
import { CARD_STATES } from './cards.mjs';

/** Users come through a proxy, so that they have several addresses. */
export const LOCATOR_SETTINGS = { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_MCP: 'off' };

const HEADER = 'ref,name,operator,lat,lon,street,city,region,postcode,country,status,reported_at,hours,phone,website,buy,sell,buy_fee_percent';
const REPORTED_AT = new Date(Date.now() - 7 * 24 * 3600_000).toISOString();
const AUSTIN = [
  `1,Corner Market,Example Coin,30.268,-97.743,120 Sample St,Austin,TX,78701,US,in service,${REPORTED_AT},Mo-Su 08:00-22:00,+1 555 0100,https://example.com,yes,yes,12`,
  `2,Lakeside Laundry,Example Coin,30.280,-97.750,88 Placeholder Ave,Austin,TX,78701,US,in service,${REPORTED_AT},24/7,,,yes,no,16.5`,
  `3,Hill Books,Northfork,30.300,-97.730,14 Invented Rd,Austin,TX,78702,US,in service,${REPORTED_AT},24/7,,,yes,,`,
  `4,Quarry Mall,Northfork,30.310,-97.720,900 Fictional Pkwy,Austin,TX,78702,US,out of service,${REPORTED_AT},,,,yes,,`,
  `5,Gone Grocery,Northfork,30.320,-97.710,3 Former Ln,Austin,TX,78702,US,in service,${REPORTED_AT},24/7,,,yes,,`,
  `6,Dropped Diner,Northfork,30.330,-97.700,9 Nowhere Ct,Austin,TX,78702,US,in service,${REPORTED_AT},24/7,,,yes,,`,
  ',No Address Kiosk,,30.40,-97.69,,,,,,,,,,,,,',
];
const DALLAS = Array.from({ length: 60 }, (_, at) => `d${at},Shop ${at},Example Coin,${(32.7 + at / 400).toFixed(4)},${(-96.9 + (at % 9) / 50).toFixed(4)},${at} Main St,Dallas,TX,75201,US,in service,,${at % 3 ? '24/7' : ''},,,yes,,`);
const OTHERS = [
  '7,City Hall Kiosk,Example Coin,44.978,-93.265,5 Madeup Ln,Minneapolis,MN,55401,US,in service,,24/7,,,yes,yes,',
  '8,Beach Arcade,Example Coin,25.7617,-80.1918,1 Ocean Dr,Miami,FL,33101,US,in service,,24/7,,,yes,yes,9.9',
];

async function importRows(server, rows) {
  const file = join(server.folder, 'machines.csv');
  writeFileSync(file, [HEADER, ...rows].join('\n'));
  await server.command('atms', 'import', file, '--source', 'machines', '--attribution', 'Machines: an example source');
}

/** Polls until the condition is true. */
async function becomes(what, look) {
  for (const deadline = Date.now() + PATIENCE; ;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < deadline, `${what} did not happen`);
  }
}

/** Returns an uncached page of the server as text. */
const read = async (server, path) => (await fetch(`${server.origin}${path}`, { headers: { accept: 'text/html' } })).text();

/** Reports an ATM from an address; returns its number in the queue. */
async function report(server, atm, from, seen) {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': from };
  const reply = await fetch(`http://127.0.0.1:${server.port}/v1/atms/${atm}/reports`, { method: 'POST', headers, body: JSON.stringify({ seen, how: 'saw' }) });
  assert.equal(reply.status, 201);
  return (await reply.json()).id;
}

/** Adds a reported, a quoted, a closed and a removed ATM. Returns their URLs by name. */
export async function prepareLocator(server) {
  await importRows(server, [...AUSTIN, ...DALLAS, ...OTHERS]);
  const found = await becomes('the import', async () => {
    const { atms } = await server.command('atms', 'near', '30.29,-97.73', '--limit', '20');
    return atms.some((atm) => atm.name === 'Corner Market') && atms;
  });
  const ids = Object.fromEntries(found.map((atm) => [atm.name, atm.id]));
  await becomes('the import is served', async () => (await read(server, `/atm/${ids['Gone Grocery']}`)).includes('Gone Grocery'));
  await importRows(server, [...AUSTIN.filter((row) => !row.includes('Dropped')), ...DALLAS, ...OTHERS]);
  for (const from of ['192.0.2.1', '198.51.100.1']) await report(server, ids['Hill Books'], from, 'gone');
  await report(server, ids['Lakeside Laundry'], '192.0.2.2', 'gone');
  await server.command('reports', 'accept', await report(server, ids['Gone Grocery'], '203.0.113.1', 'gone'));
  await becomes('the decision is served', async () => (await read(server, `/atm/${ids['Gone Grocery']}`)).includes('Closed for good'));
  await becomes('the second import is served', async () => (await read(server, `/atm/${ids['Dropped Diner']}`)).includes('no longer listed'));
  return ids;
}

/** Opens a page of the locator in a new browser. */
async function opened(stage, path, { ready, ...options } = {}) {
  stage.locator ??= prepareLocator(stage.server);
  const ids = await stage.locator;
  const visitor = await stage.visitor({ expected: [/^console: .* (404|410|422) /], ...options });
  const page = await visitor.open(`${stage.server.origin}${typeof path === 'function' ? path(ids) : path}`);
  await ready?.(page);
  return page;
}

const at = (path, ready) => (stage, options) => opened(stage, path, { ready, ...options });
const machine = (name, more = '') => (ids) => `/atm/${ids[name]}${more}`;
const send = (page) => page.locator('form#report button').click();

/** Name → a function that opens a page. */
export const LOCATOR_STATES = {
  'locator home': at('/'),
  'locator state': at('/atms/us/tx'),
  'locator city reported': at('/atms/us/tx/austin'),
  'locator city second page': at('/atms/us/tx/dallas?page=2'),
  'locator city banned': at('/atms/us/mn/minneapolis'),
  'locator machine': at(machine('Corner Market')),
  'locator machine quoted': at(machine('Lakeside Laundry')),
  'locator machine doubted': at(machine('Hill Books')),
  'locator machine closed': at(machine('Gone Grocery')),
  'locator machine bare': at(machine('No Address Kiosk')),
  'locator near': at('/near?q=Austin%2C+TX'),
  'locator near user': at('/near?lat=30.268&lon=-97.743&here=1'),
  'locator near nothing': at('/near?q=Anchorage'),
  'locator near unknown': at('/near?q=Nowhereville'),
  'locator map': at('/map', drawn),
  'locator map city': at('/map#11/30.29/-97.73', async (page) => {
    await drawn(page);
    await page.locator('.in-sight .machine').first().waitFor();
  }),
  'locator map plain': (stage, options) => opened(stage, '/map', { javaScriptEnabled: false, ...options }),
  'locator about': at('/about/data'),
  'locator install': at('/mcp'),
  'locator report': at(machine('Corner Market', '/report?seen=gone')),
  'locator report refused': at(machine('Corner Market', '/report?seen=other'), async (page) => {
    await send(page);
    await page.getByRole('alert').waitFor();
  }),
  'locator report thanks': at(machine('Corner Market', '/report?seen=there'), async (page) => {
    await send(page);
    await page.locator('[data-state="thanks"]').waitFor();
  }),
  'locator no such page': at('/atms/us/tx/nowhere'),
  'locator machine dropped': at(machine('Dropped Diner')),
};

/** Name → a function that shows a card in an assistant. */
export const CARD_PICTURES = Object.fromEntries(Object.entries(CARD_STATES).map(([name, reach]) => [`card ${name}`, async (stage, options) => {
  // The assistant's client first requests a stream, which this server does not have.
  const visitor = await stage.visitor({ expected: [/^console: .* 405 .*\/mcp$/], ...options });
  const assistant = await Assistant.open(stage.server, visitor, { context: { locale: options.locale } });
  await reach(assistant);
  return assistant.page;
}]));
