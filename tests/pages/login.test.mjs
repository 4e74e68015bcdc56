// Logins by every way of the login page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, codeOf, lightningOf, state } from './browser.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

test('a new user creates an account, and logs in', async () => {
  const site = await stage.site();
  const wallet = await stage.wallet('new');
  const { visitor, page, session } = await stage.atLogin(site, { mode: 'register' });
  const first = await codeOf(page);
  assert.match(first.number, /^\d\d$/);
  assert.match(first.code, /^svc:\/\/auth\?v=2&.*&number=1$/);
  assert.equal((await wallet.scan(first.code, first.number)).status, 200);
  const who = await back(page);
  assert.match(who, /^in usr_/);
  assert.deepEqual(Object.keys(site.returns.at(-1)).sort(), ['code', 'session_id']);
  const { status, method, user } = await site.read(session.id);
  assert.deepEqual([status, method, user.public_key], ['authenticated', 'scan', wallet.publicKey]);

  const again = await visitor.open(`${site.origin}/login`);
  await state(again, 'waiting');
  const second = await codeOf(again);
  assert.equal((await wallet.scan(second.code, second.number)).status, 200);
  assert.equal(await back(again), who);
});

test('an unknown key creates an account with a second scan', async () => {
  const site = await stage.site();
  const wallet = await stage.wallet('unknown');
  const { page, session } = await stage.atLogin(site);
  const first = await codeOf(page);
  const refused = await wallet.scan(first.code, first.number);
  assert.equal(refused.status, 404);
  assert.match(refused.body.error, /scan the new code/i);
  const main = await state(page, 'create');
  assert.match(await main.innerText(), /No account has this key yet/);
  assert.match(await main.innerText(), /Nothing has been saved/);
  const second = await codeOf(page);
  assert.notEqual(second.code, first.code);
  assert.equal((await site.read(session.id)).mode, 'register');
  assert.equal((await wallet.scan(second.code, second.number)).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('a Lightning wallet creates an account and logs in, without a number', async () => {
  const site = await stage.site();
  const wallet = await stage.wallet('lightning');
  const { visitor, page, session } = await stage.atLogin(site, { mode: 'register' });
  const link = await lightningOf(page);
  assert.match(link, /^lightning:lnurl1/);
  await wallet.lnurl(link);
  const who = await back(page);
  assert.match(who, /^in usr_/);
  assert.equal((await site.read(session.id)).method, 'lightning');
  const again = await visitor.open(`${site.origin}/login`);
  await state(again, 'waiting');
  await wallet.lnurl(await lightningOf(again));
  assert.equal(await back(again), who);
});

test('a user without an account creates one', async () => {
  const site = await stage.site();
  const { page, session } = await stage.atLogin(site);
  const first = await codeOf(page);
  await page.getByRole('button', { name: 'Create an account' }).click();
  await page.getByRole('heading', { name: /Create your account at/ }).waitFor();
  assert.notEqual((await codeOf(page)).code, first.code);
  assert.equal((await site.read(session.id)).mode, 'register');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: /Log in to/ }).waitFor();
  assert.equal((await site.read(session.id)).mode, 'login');
});

test('a cancelled login returns to the site', async () => {
  const site = await stage.site();
  const { page, session } = await stage.atLogin(site);
  const { code, number } = await codeOf(page);
  await page.locator('form#cancel button').click();
  assert.equal(await back(page), 'access_denied');
  assert.deepEqual(site.returns.at(-1), { session_id: session.id, error: 'access_denied' });
  const late = await (await stage.wallet('late')).scan(code, number);
  assert.ok(late.status >= 400, JSON.stringify(late));
});

test('the page follows the browser\'s language, and a link changes it', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, { locale: 'es-ES' });
  const main = await state(page, 'waiting');
  assert.equal(await page.locator('html').getAttribute('lang'), 'es');
  assert.match(await main.innerText(), /Inicia sesión en\s+localhost/);
  await page.getByRole('link', { name: 'English' }).click();
  await page.getByRole('heading', { name: /Log in to/ }).waitFor();
  await page.locator('form#cancel button').click();
  assert.equal(await back(page), 'access_denied');
});
