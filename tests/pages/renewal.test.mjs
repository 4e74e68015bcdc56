// Expiring codes: the page replaces them in time, and shows a button if it stopped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, codeOf, state } from './browser.mjs';
import { Stage } from './stage.mjs';
import { pass } from './states.mjs';
import { CrookedWallet } from './wallets.mjs';

const stage = Stage.set({ SESSION_TTL: '4s' });

/** Waits until the page has a new code. */
async function nextCode(page, code) {
  await page.waitForFunction((old) => {
    const link = document.querySelector('a[rel="signpost-code"][href]');
    return link && link.getAttribute('href') !== old;
  }, code);
  return codeOf(page);
}

/** Answers the page's codes until an answer is accepted: on a busy machine, a code may expire before its answer. */
async function answerInTime(page, wallet) {
  for (;;) {
    const { code, number } = await codeOf(page);
    if ((await wallet.answer(code, number)).status === 200) return;
    await nextCode(page, code);
  }
}

test('a new code replaces the old one without a reload', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, { mode: 'register' });
  await page.evaluate(() => (window.isTheSame = true));
  const first = await codeOf(page);
  const second = await nextCode(page, first.code);
  await nextCode(page, second.code);
  assert.equal(await page.evaluate(() => window.isTheSame), true);
  await answerInTime(page, new CrookedWallet());
  assert.match(await back(page), /^in usr_/);
});

test('a chosen kind of wallet survives new codes', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site);
  await page.locator('label', { hasText: 'Lightning' }).click();
  const first = await codeOf(page);
  await nextCode(page, first.code);
  assert.ok(await page.locator('a[rel="signpost-lightning"]').first().isVisible());
  assert.ok(!(await page.locator('output#number').isVisible()));
});

test('an answer to an old code is reported', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, { mode: 'register' });
  const first = await codeOf(page);
  await nextCode(page, first.code);
  const wallet = new CrookedWallet();
  const answer = await wallet.answer(first.code, first.number);
  assert.ok(answer.status >= 400, JSON.stringify(answer));
  assert.match(answer.body.error, /code/i);
  assert.match(await (await state(page, 'refused')).innerText(), /That code was replaced/);
  await answerInTime(page, wallet);
  assert.match(await back(page), /^in usr_/);
});

test('renewal stops after fifteen minutes, and a button continues', async (t) => {
  const own = await Stage.own(t);
  const site = await own.site();
  const { page } = await own.atLogin(site, { mode: 'register', expected: [/ERR_|status of 503/] });
  await pass(own, 16);
  const main = await state(page, 'expired');
  assert.match(await main.innerText(), /This login has ended/);
  assert.equal(await page.locator('a[rel="signpost-code"]').count(), 0);
  await page.getByRole('button', { name: 'Show a new code' }).click();
  await state(page, 'waiting');
  const { code, number } = await codeOf(page);
  assert.equal((await new CrookedWallet().answer(code, number, { secondsOff: 16 * 60 })).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('after hours only the link to the site is left', async (t) => {
  const own = await Stage.own(t);
  const site = await own.site();
  const { page, session } = await own.atLogin(site, { expected: [/ERR_|status of 503/] });
  await pass(own, 180);
  await state(page, 'expired');
  assert.equal(await page.getByRole('button', { name: 'Show a new code' }).count(), 0);
  await page.getByRole('link', { name: /Back to/ }).click();
  assert.equal(await back(page), 'expired');
  assert.deepEqual(site.returns.at(-1), { session_id: session.id, error: 'expired' });
});
