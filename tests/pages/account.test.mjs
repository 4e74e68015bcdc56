// The account pages: sign-in state, layout, and use without a mouse or scripts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACCOUNT_STATES, LATE_ACCOUNT_STATES, accountOf, addSpare, atAccount, inTwoBrowsers, signIn } from './accounts.mjs';
import { state } from './browser.mjs';
import { checkFocus, checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

test('signing out everywhere ends all sessions', async () => {
  const { site, wallet, visitor, page } = await atAccount(stage);
  const other = await signIn(stage, site, wallet);
  await page.locator('form#sign-out-everywhere button').click();
  await state(page, 'signed-out');
  for (const each of [visitor, other]) await state(await each.open(accountOf(stage, site)), 'signed-out');
  const list = await other.open(`${stage.server.origin}/account`);
  await state(list, 'signed-out');
});

test('the page works without JavaScript and by keyboard', async () => {
  const { site, wallet, page } = await atAccount(stage, { javaScriptEnabled: false });
  await addSpare(stage, site, wallet);
  await page.reload();
  await page.locator('summary').first().press('Enter');
  const name = page.locator('input[name=name]').first();
  await name.fill('By keyboard');
  await name.press('Enter');
  await page.getByRole('heading', { name: 'By keyboard' }).waitFor();
  await page.locator('summary').first().press('Enter');
  await page.getByRole('button', { name: 'Remove this key: By keyboard' }).press('Enter');
  await page.locator('main[data-state=remove]').waitFor();
  await page.getByRole('link', { name: 'Keep it' }).press('Enter');
  await page.locator('main[data-state=account]').waitFor();
  assert.equal(await page.locator('ul.keys > li').count(), 2);
  await page.locator('form#sign-out button').press('Enter');
  await page.locator('main[data-state=signed-out]').waitFor();
});

test('ending a sign-in signs only that browser out', async () => {
  const { site, other, page } = await inTwoBrowsers(stage, { javaScriptEnabled: false });
  const here = page.locator('ul.devices > li').filter({ hasText: 'This browser.' });
  assert.equal(await here.count(), 1);
  assert.equal(await here.getByRole('button').count(), 0);
  // The newest sign-in comes first; the last is that of the registration.
  assert.equal(await page.locator('ul.devices > li').count(), 3);
  await page.getByRole('button', { name: /^Sign out there: Chrome/ }).first().press('Enter');
  await page.getByRole('status').filter({ hasText: 'You are signed out there.' }).waitFor();
  assert.equal(await page.locator('ul.devices > li').count(), 2);
  await state(await other.open(accountOf(stage, site)), 'signed-out');
});

test('tab stops follow the reading order', async () => {
  const { page } = await atAccount(stage);
  const stops = await checkFocus(page);
  const at = (pattern) => stops.findIndex((stop) => pattern.test(stop));
  const order = [/Rename or remove/, /^Add a key$/, /in this browser/, /in all browsers/, /All your accounts/].map(at);
  assert.ok(order.every((stop) => stop >= 0), stops.join(', '));
  assert.deepEqual(order, order.toSorted((a, b) => a - b), stops.join(', '));
});

for (const [name, reach] of Object.entries(ACCOUNT_STATES)) {
  test(`looks: ${name}`, async () => checkLooks(await reach(stage)));
}
for (const [name, reach] of Object.entries(LATE_ACCOUNT_STATES)) {
  test(`looks: ${name}`, async (t) => checkLooks(await reach(await Stage.own(t))));
}
test('looks: in Spanish', async () => {
  for (const name of ['account with two keys, one unfolded', 'two browsers', 'remove, asked']) {
    await checkLooks(await ACCOUNT_STATES[name](stage, { locale: 'es-ES' }));
  }
});
