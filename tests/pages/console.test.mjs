// The console for operators: each screen in both themes and widths, with and without scripts, by keyboard.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Authenticator } from './authenticator.mjs';
import { state } from './browser.mjs';
import { CONSOLE_STATES, HOSTILE, atBusyConsole, becomeOperator, linkOf } from './consoles.mjs';
import { checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

for (const [name, reach] of Object.entries(CONSOLE_STATES)) {
  test(`${name} looks right`, async () => checkLooks(await reach(stage)));
}

test('the link leaves the address bar, and works once', async () => {
  const [first, second] = [await stage.visitor(), await stage.visitor({ expected: [/status of 403/] })];
  const link = await linkOf(stage);
  const page = await first.open(link);
  await state(page, 'setup-login');
  assert.equal(await page.evaluate(() => location.hash), '');
  await state(await second.open(link), 'refused');
});

test('an operator works without scripts', async () => {
  const { page } = await becomeOperator(stage, { javaScriptEnabled: false, expected: [/status of 403/] });
  await page.getByRole('link', { name: 'Keys and log' }).click();
  await page.getByLabel('Name').fill('Without scripts');
  await page.getByRole('button', { name: 'Make the key' }).click();
  assert.match(await page.locator('#new-key').innerText(), /^svc_test_/);
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('link', { name: 'key.created' }).first().click();
  assert.match(await page.locator('tbody tr').first().innerText(), /operator:usr_/);
  await page.goto(`${stage.server.origin}/console/health`);
  await page.getByText(/^Checked/).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
});

test('an operator with only a passkey sets up the console', async () => {
  const visitor = await stage.visitor({ expected: [/status of 403/] });
  const page = await visitor.context.newPage();
  const device = await Authenticator.plug(page);
  // A device with automatic presence would answer the field at once.
  await page.addInitScript(() => (PublicKeyCredential.isConditionalMediationAvailable = async () => false));
  await page.goto(await linkOf(stage));
  await state(page, 'setup-login');
  await page.locator('form#login button').click();
  await state(page, 'waiting');
  await page.locator('#switch-mode').click();
  await page.getByRole('button', { name: 'Make a passkey' }).waitFor();
  await device.touch(true);
  await page.locator('#use-passkey').click();
  await state(page, 'confirm');
  await page.locator('form#confirm button').click();
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
  await page.locator('form#login button').click();
  await state(page, 'waiting');
  await page.locator('#use-passkey').click();
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Keys and log' }).click();
  await page.getByLabel('Name').fill('Made with a passkey');
  await page.getByRole('button', { name: 'Make the key' }).click();
  assert.match(await page.locator('#new-key').innerText(), /^svc_test_/);
});

test('a report is accepted by a shortcut, and reverted', async () => {
  const { page } = await atBusyConsole(stage);
  await page.goto(`${stage.server.origin}/console/reports?state=shown`);
  await page.keyboard.press('a');
  await page.getByText('The report is accepted.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).first().click();
  await page.getByText('The report is shown.').waitFor();
});

test('the counts in the menu are current', async () => {
  const { page } = await becomeOperator(stage);
  const badge = page.locator('[data-count=today]');
  await badge.evaluate((element) => (element.textContent = '999'));
  // A return to the tab polls at once.
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await page.waitForFunction(() => document.querySelector('[data-count=today]').textContent !== '999');
});

test('texts of third parties are not markup on any screen', async () => {
  const { page } = await atBusyConsole(stage);
  for (const path of ['', '/machines?q=script', '/reports?state=shown', '/reports?state=accepted', '/log', '/sites']) {
    await page.goto(`${stage.server.origin}/console${path}`);
    assert.notEqual(await page.title(), 'x', path);
    assert.equal(await page.locator('img[src=x], main script, a[href^="javascript:"]').count(), 0, path);
  }
  await page.goto(`${stage.server.origin}/console/machines?q=script`);
  const link = page.getByRole('link', { name: HOSTILE.slice(0, 20) });
  await link.click();
  assert.equal(await page.locator('img[src=x], main script, a[href^="javascript:"]').count(), 0);
});
