// The wallet in the browser: made, checked, restored; and every way in which it gets a code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { back, codeOf, state } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();
const address = () => `${stage.server.origin}/wallet`;

/** Makes a wallet on a page that shows its start; its 24 words. */
async function make(page) {
  await page.getByRole('button', { name: 'Make a wallet' }).click();
  await state(page, 'words');
  const words = await page.locator('#words li').allInnerTexts();
  assert.equal(words.length, 24);
  await page.getByRole('button', { name: 'I have written them down' }).click();
  await state(page, 'check');
  for (const field of await page.locator('#check-form .field').all()) {
    const position = Number(await field.locator('[data-place="position"]').first().innerText());
    await field.locator('input').fill(words[position - 1]);
  }
  await page.getByRole('button', { name: 'Finish' }).click();
  return words;
}

/** A person whose browser has a wallet: `{visitor, page, words}`. */
async function owner(options) {
  const visitor = await stage.visitor(options);
  const page = await visitor.open(address());
  await state(page, 'start');
  const words = await make(page);
  await state(page, 'home');
  return { visitor, page, words };
}

/** Pastes the link of a code, and decides about it. */
async function paste(page, { code, number }) {
  await page.getByLabel('Or paste the link of a code').fill(code);
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await state(page, 'confirm');
  if (number) await page.getByLabel(/^Number on the page/).fill(number);
  await page.locator('#agree').click();
}

test('a wallet is made, its words are checked, and a pasted code creates an account', async () => {
  const site = await stage.site();
  const { page } = await owner();
  const login = await stage.atLogin(site, { mode: 'register' });
  await paste(page, await codeOf(login.page));
  const done = await state(page, 'outcome');
  assert.match(await done.innerText(), /You have a key at localhost/);
  assert.match(await back(login.page), /^in usr_/);
  const { method, user } = await site.read(login.session.id);
  assert.equal(method, 'browser');
  await page.getByRole('button', { name: 'To the wallet' }).click();
  await page.getByRole('button', { name: 'Keys' }).click();
  const keys = await state(page, 'keys');
  assert.match(await keys.innerText(), new RegExp(`localhost\\s+Ends in ${user.public_key.slice(-8)}`));
});
