// Rejected answers: the page shows the reason in plain words, and continues.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, codeOf, state } from './browser.mjs';
import { Stage } from './stage.mjs';
import { CrookedWallet } from './wallets.mjs';

const stage = Stage.set();
const otherThan = (number) => String((Number(number) + 1) % 100).padStart(2, '0');

/** Checks that the page shows this text above a valid code. */
async function isRefused(page, words) {
  const main = await state(page, 'refused');
  assert.match(await main.innerText(), words);
  return codeOf(page);
}

test('wrong numbers are explained, and the third ends the login', async () => {
  const site = await stage.site();
  const wallet = await stage.wallet('careless', site);
  const { page } = await stage.atLogin(site);
  const shown = await codeOf(page);
  const answer = await wallet.scan(shown.code, otherThan(shown.number));
  assert.equal(answer.status, 406);
  assert.deepEqual(await isRefused(page, /That number is wrong/), shown);
  await wallet.scan(shown.code, otherThan(shown.number));
  await page.getByText('One try is left').waitFor();
  await wallet.scan(shown.code, otherThan(shown.number));
  const link = page.getByRole('link', { name: /Back to/ });
  await link.waitFor();
  assert.equal(await page.locator('a[rel="signpost-code"]').count(), 0);
  await link.click();
  assert.equal(await back(page), 'access_denied');
});

test('another host is not counted as a wrong answer', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, { mode: 'register' });
  const { code, number } = await codeOf(page);
  const wallet = new CrookedWallet();
  const answer = await wallet.answer(code, number, { through: 'login.evil.test' });
  assert.equal(answer.status, 406);
  const shown = await isRefused(page, /Your wallet answered for another site[^]*did not cost a try/);
  assert.equal((await wallet.answer(shown.code, shown.number)).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('a clock error of four minutes is explained', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, { mode: 'register' });
  const { code, number } = await codeOf(page);
  const wallet = new CrookedWallet();
  assert.equal((await wallet.answer(code, number, { secondsOff: -241 })).status, 408);
  const shown = await isRefused(page, /The clock of your wallet is 4 minutes off[^]*automatic date and time/);
  assert.equal((await wallet.answer(shown.code, shown.number)).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('closed registration rejects unknown keys only', async () => {
  const site = await stage.site('closed', { settings: { registration: 'closed' } });
  const known = await stage.wallet('known at a closed site', site);
  const { page } = await stage.atLogin(site);
  assert.equal(await page.getByRole('button', { name: 'Create an account' }).count(), 0);
  const { code, number } = await codeOf(page);
  assert.equal((await new CrookedWallet().answer(code, number)).status, 404);
  const shown = await isRefused(page, /No account at localhost has this key/);
  assert.equal((await site.users()).users.length, 1);
  assert.equal((await known.scan(shown.code, shown.number)).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('a known key logs in instead of registering', async () => {
  const site = await stage.site();
  const known = await stage.wallet('known', site);
  const { page } = await stage.atLogin(site, { mode: 'register' });
  const { code, number } = await codeOf(page);
  assert.equal((await known.scan(code, number)).status, 409);
  await isRefused(page, /This key has an account already/);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: /Log in to/ }).waitFor();
  const shown = await codeOf(page);
  assert.equal((await known.scan(shown.code, shown.number)).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('one of two concurrent wallets logs in', async () => {
  const site = await stage.site();
  const { page, session } = await stage.atLogin(site, { mode: 'register' });
  const { code, number } = await codeOf(page);
  const wallets = [new CrookedWallet(), new CrookedWallet(), new CrookedWallet()];
  const answers = await Promise.all(wallets.map((wallet) => wallet.answer(code, number)));
  const taken = answers.filter((answer) => answer.status === 200);
  assert.equal(taken.length, 1, JSON.stringify(answers));
  assert.match(await back(page), /^in usr_/);
  const winner = wallets[answers.indexOf(taken[0])].publicKey;
  assert.equal((await site.read(session.id)).user.public_key, winner);
});
