// JavaScript off: forms and refreshes do all of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, codeOf, state } from './browser.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();
const plain = { javaScriptEnabled: false };

test('a new user creates an account and logs in', async () => {
  const site = await stage.site();
  const wallet = await stage.wallet('plain');
  const { visitor, page } = await stage.atLogin(site, plain);
  const first = await codeOf(page);
  assert.equal((await wallet.scan(first.code, first.number)).status, 404);
  await state(page, 'create');
  const second = await codeOf(page);
  assert.equal((await wallet.scan(second.code, second.number)).status, 200);
  const who = await back(page);
  assert.match(who, /^in usr_/);
  const again = await visitor.open(`${site.origin}/login`);
  const third = await codeOf(again);
  assert.equal((await wallet.scan(third.code, third.number)).status, 200);
  assert.equal(await back(again), who);
});

test('the buttons create an account, log in, and cancel', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, plain);
  await page.getByRole('button', { name: 'Create an account' }).click();
  await page.getByRole('heading', { name: /Create your account at/ }).waitFor();
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: /Log in to/ }).waitFor();
  await page.locator('form#cancel button').click();
  assert.equal(await back(page), 'access_denied');
});
