// The form for reports about ATMs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PATIENCE, Visitor, launch } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Server } from './server.mjs';

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start({ RATE_LIMIT_REPORTS: 'off' }), launch()]);
});
after(() => Promise.all([server.close(), browser.close()]));

for (const javaScriptEnabled of [true, false]) {
  test(`an ATM is reported, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
    const machine = javaScriptEnabled ? 1 : 2;
    const options = { javaScriptEnabled, expected: [/^console: .* 422 .*\/report/] };
    const visitor = await Visitor.arrive(browser, [server.origin], options);
    const page = await visitor.open(`${server.origin}/atm/${machine}`);
    await page.locator('#right').getByLabel('It is gone').check();
    await page.locator('#right').getByRole('button').click();
    await page.waitForURL(/\/report\?/);
    assert.ok(await page.getByLabel('It is gone').isChecked());
    // The page shows the error, and preserves the input.
    await page.getByLabel('Something else is wrong').check();
    await page.getByLabel('How do you know?').selectOption('saw');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByLabel('How do you know?').inputValue(), 'saw');
    assert.ok(await page.getByLabel('Something else is wrong').isChecked());
    await page.getByLabel('It is gone').check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await page.getByRole('link', { name: 'Back to the machine' }).click();
    await page.locator('#reports').getByText('1 person says it is gone (').waitFor();
    await visitor.leave();
  });
}

/** Returns an assistant's search result for a place. */
async function asks(location) {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'find_nearest_bitcoin_atm', arguments: { location } } };
  const reply = await fetch(`${server.origin}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) });
  return (await reply.json()).result.structuredContent.atms;
}

test('a report changes lists and assistants\' results', async () => {
  const [seeker, friend] = [await Visitor.arrive(browser, [server.origin]), await Visitor.arrive(browser, [server.origin])];
  const page = await seeker.open(`${server.origin}/`);
  await page.getByRole('searchbox').fill('Miami, FL');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('heading', { name: 'Bitcoin ATMs near Miami, Florida' }).waitFor();
  const search = page.url();
  const first = page.locator('.machine').first();
  assert.equal(await first.getByText('1 person says').count(), 0);
  await first.getByRole('link').click();
  await page.waitForURL(/\/atm\/\d+$/);
  const shared = page.url();
  const id = Number(shared.split('/').at(-1));
  assert.equal((await asks('Miami, FL')).find((atm) => atm.id === id).reports, undefined);

  const theirs = await friend.open(shared);
  await theirs.locator('#right').getByLabel('It is gone').check();
  await theirs.locator('#right').getByRole('button').click();
  await theirs.getByLabel('How do you know?').selectOption('saw');
  await theirs.getByRole('button', { name: 'Send' }).click();
  await theirs.getByRole('heading', { name: 'Thank you' }).waitFor();

  // Every server polls for changes each second.
  for (const deadline = Date.now() + PATIENCE; !(await asks('Miami, FL')).find((atm) => atm.id === id).reports;) assert.ok(Date.now() < deadline, 'no report in the tool result');
  const reported = (await asks('Miami, FL')).find((atm) => atm.id === id);
  assert.match(reported.reports, /^1 person says that it is gone; newest of \d{4}-\d\d-\d\d$/);
  await page.goto(search);
  await page.locator('.machine').first().getByText('1 person says it is gone (').waitFor();
  // A browser caches an ATM for a minute, unless the page is reloaded.
  await page.goto(shared);
  await page.reload();
  await page.locator('#reports').getByText('1 person says it is gone (').waitFor();
  // The last breadcrumb before the ATM is its town.
  await page.locator('.crumbs a').last().click();
  await page.waitForURL(/\/atms\/us\/fl\//);
  await page.locator('.machine').getByText('1 person says it is gone (').waitFor();
  await seeker.leave();
  await friend.leave();
});

test('the form\'s layout is right in each language', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { expected: [/^console: .* 422 .*\/report/] });
  for (const [language, send] of [['en', 'Send'], ['es', 'Enviar']]) {
    const page = await visitor.open(`${server.origin}/atm/3/report?lang=${language}`);
    await checkLooks(page);
    await page.getByRole('button', { name: send }).click();
    await page.getByRole('alert').waitFor();
    await checkLooks(page);
    await page.locator('input[value="there"]').check();
    await page.getByRole('button', { name: send }).click();
    await page.locator('[data-state="thanks"]').waitFor();
    await checkLooks(page);
  }
  const page = await visitor.open(`${server.origin}/atm/3`);
  await checkLooks(page);
  await visitor.leave();
});
