// The login page on a phone: one way at first, and the rest behind a button.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NARROW, back, codeOf, state } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();
const phone = { viewport: NARROW, hasTouch: true, isMobile: true };
const others = (page) => page.getByRole('button', { name: 'Other ways to log in' });

/** Returns the text of the primary button. */
async function primary(page) {
  const shown = page.locator('main .btn.primary:visible');
  assert.equal(await shown.count(), 1);
  return (await shown.innerText()).trim();
}

test('a phone shows one way, and the rest on request', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, phone);
  assert.match(await primary(page), /Use a passkey|Use this browser's wallet/);
  assert.ok(!(await page.locator('.scanbox').isVisible()) && !(await page.locator('input:visible').count()));
  await checkLooks(page);
  await page.setViewportSize(NARROW);
  await others(page).click();
  await page.locator('#open-wallet').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'methods');
  // The camera of this phone cannot see its own screen.
  assert.ok(!(await page.getByText('Camera', { exact: true }).isVisible()));
  await checkLooks(page);
});

test('a new code keeps the other ways visible', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, phone);
  await others(page).click();
  const { code } = await codeOf(page);
  await page.getByRole('button', { name: 'Create an account' }).click();
  await page.getByRole('heading', { name: /Create your account at/ }).waitFor();
  assert.notEqual((await codeOf(page)).code, code);
});

test('a refused answer is visible on a phone', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, phone);
  const wallet = await stage.wallet('unknown on a phone');
  const { code, number } = await codeOf(page);
  await wallet.scan(code, number);
  await state(page, 'create');
  await page.getByRole('heading', { name: 'No account has this key yet' }).waitFor();
});

test('a link that opens no wallet is reported', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, phone);
  await others(page).click();
  // No application is installed for these links; Chromium then stays at the page.
  await page.locator('#open-wallet').click();
  await page.locator('.p1 .unopened').getByText('No wallet opened').waitFor();
  await checkLooks(page);
});

test('the browser wallet comes first after its login', async () => {
  const site = await stage.site();
  const { visitor, page } = await stage.atLogin(site, { ...phone, mode: 'register' });
  await page.locator('#use-wallet').click();
  await state(page, 'start');
  await page.getByRole('button', { name: 'Make a wallet' }).click();
  await state(page, 'confirm');
  await page.locator('#agree').click();
  assert.match(await back(page), /^in usr_/);
  const again = await visitor.open(`${site.origin}/login`);
  await state(again, 'waiting');
  assert.equal(await primary(again), "Use this browser's wallet");
});

test('without JavaScript a phone shows every way', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, { ...phone, javaScriptEnabled: false });
  assert.ok(await page.locator('#open-wallet').isVisible());
  assert.ok(!(await others(page).isVisible()));
});
