// The login page by keyboard only.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, lightningOf, state } from './browser.mjs';
import { checkFocus, tabTo } from './looks.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

test('tab stops follow the reading order', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site);
  const stops = await checkFocus(page);
  assert.match(stops[0], /Skip/);
  const at = (pattern) => {
    const found = stops.findIndex((stop) => pattern.test(stop));
    assert.ok(found >= 0, `${pattern} is not among ${stops.join(', ')}`);
    return found;
  };
  const order = [at(/Español/), at(/Use a passkey/), at(/Create an account/), at(/^Wallet$/), at(/^Cancel$/)];
  assert.deepEqual(order, order.toSorted((a, b) => a - b), stops.join(', '));
});

test('arrow keys change the kind of wallet', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site);
  await tabTo(page, 'input[type=radio]:checked');
  const number = page.locator('output#number');
  assert.ok(await number.isVisible());
  await page.keyboard.press('ArrowRight');
  await page.locator('#wallet-code').waitFor({ state: 'visible' });
  assert.ok(await number.isVisible());
  assert.ok(!(await page.locator('a[rel="signpost-code"]').first().isVisible()));
  await page.keyboard.press('ArrowRight');
  await page.locator('a[rel="signpost-lightning"]').first().waitFor({ state: 'visible' });
  assert.ok(!(await number.isVisible()));
  assert.ok(!(await page.locator('a[rel="signpost-code"]').first().isVisible()));
  assert.match(await lightningOf(page), /^lightning:lnurl1/);
  // The instructions are those for this kind of wallet.
  const { host } = new URL(stage.server.origin);
  assert.deepEqual(await page.locator('ol.steps:visible li').allInnerTexts(), ['Open your wallet and scan the code.', `Check that the wallet shows ${host}.`]);
  await page.keyboard.press('ArrowLeft');
  await number.waitFor({ state: 'visible' });
});

test('the skip link bypasses the header', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#main$/);
});

test('Enter creates an account, logs in and cancels', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site);
  await tabTo(page, 'form#mode button');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /Create your account at/ }).waitFor();
  await state(page, 'waiting');
  await tabTo(page, 'form#cancel button');
  await page.keyboard.press('Enter');
  assert.equal(await back(page), 'access_denied');
});
