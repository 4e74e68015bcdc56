// `signpost demo`: a new user, its shop and a wallet.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { Authenticator } from './authenticator.mjs';
import { Visitor, codeOf, heldBack, launch, lightningOf, state } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Wallet } from './wallets.mjs';

const SIGNPOST = process.env.SIGNPOST ?? new URL('../../target/debug/signpost', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'signpost-demo-'));
const here = join(folder, 'here');
let child;
let links;
let browser;

before(async () => {
  mkdirSync(here);
  child = spawn(SIGNPOST, ['demo', '--json', '--listen', '127.0.0.1:0'], { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });
  const [[line], launched] = await Promise.all([once(createInterface({ input: child.stdout }), 'line'), launch()]);
  [links, browser] = [JSON.parse(line), launched];
});
after(async () => {
  await browser.close();
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const [code] = await ended;
  const left = readdirSync(here);
  rmSync(folder, { recursive: true });
  assert.equal(code, 0);
  assert.deepEqual(left, [], 'files that the demo left');
});

const arrive = (options) => Visitor.arrive(browser, [links.shop, links.server], options);

const makeWallet = () => Wallet.make({ folder });

/** Answers the current code of a page. */
async function scan(wallet, page) {
  const { code, number } = await codeOf(page);
  return wallet.scan(code, number);
}

/** Opens the login page from the shop's front. */
async function begin(visitor) {
  const page = await visitor.open(links.shop);
  await page.getByRole('link', { name: 'Log in or create an account' }).click();
  await state(page, 'waiting');
  return page;
}

async function userOf(page) {
  const user = await page.locator('#user').innerText();
  assert.match(user, /^usr_/);
  return user;
}

test('a user creates an account, logs out and in again', async () => {
  const [visitor, owner] = [await arrive(), await makeWallet()];
  const page = await visitor.open(links.shop);
  await checkLooks(page);
  await page.getByRole('link', { name: 'Log in or create an account' }).click();
  await state(page, 'waiting');
  assert.equal((await scan(owner, page)).status, 404);
  await state(page, 'create');
  assert.equal((await scan(owner, page)).status, 200);
  const user = await userOf(page);
  assert.match(await page.getByRole('status').innerText(), /^Welcome, \w+ \w+\. Your account is new/);
  assert.match(await page.locator('.keys').innerText(), /Added \d+ \w+ \d{4} · ends in [0-9a-f]{8}\s+Add a second key/);
  await checkLooks(page);
  await page.getByRole('button', { name: 'Log out' }).click();
  assert.match(await page.getByRole('status').innerText(), /^You are logged out/);
  await checkLooks(page);

  await page.getByRole('link', { name: 'Log in or create an account' }).click();
  await state(page, 'waiting');
  assert.equal((await scan(owner, page)).status, 200);
  assert.equal(await userOf(page), user);
  assert.match(await page.getByRole('status').innerText(), /^Welcome back/);
  assert.deepEqual((await visitor.context.cookies()).filter((cookie) => !cookie.httpOnly), []);
  await visitor.leave();
});

test('a user adds a passkey, then replaces the wallet', async () => {
  const [visitor, first, second] = [await arrive(), await makeWallet(), await makeWallet()];
  const page = await begin(visitor);
  await page.locator('#switch-mode').click();
  await page.getByRole('heading', { name: /^Create your account/ }).waitFor();
  assert.equal((await scan(first, page)).status, 200);
  const user = await userOf(page);

  const device = await Authenticator.plug(page);
  await device.touch(true);
  await page.getByRole('button', { name: 'Add a key' }).click();
  await state(page, 'waiting');
  await page.locator('#use-passkey').click();
  await page.waitForURL(`${links.shop}/account?added`);
  assert.match(await page.getByRole('status').innerText(), /^You have another key/);
  assert.equal((await device.passkeys()).length, 1);
  assert.doesNotMatch(await page.locator('.keys').innerText(), /Add a second key/);
  await checkLooks(page);

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('link', { name: 'Log in or create an account' }).click();
  await page.waitForURL(`${links.shop}/account?welcome`);
  assert.equal(await userOf(page), user);
  assert.match(await page.getByRole('status').innerText(), /^Welcome back/);

  await page.getByRole('button', { name: 'Add a key' }).click();
  await state(page, 'waiting');
  assert.equal((await scan(second, page)).status, 200);
  await state(page, 'link');
  await page.locator('#confirm-link button[value="yes"]').click();
  await page.waitForURL(`${links.shop}/account?added`);
  assert.match(await page.getByRole('status').innerText(), /^You have another key/);
  assert.equal(await page.locator('.keys li').count(), 3);
  assert.equal(await userOf(page), user);
  await visitor.leave();
});

test('a link that returns after a logout adds no key', async () => {
  const [visitor, first, second] = [await arrive(), await makeWallet(), await makeWallet()];
  const page = await begin(visitor);
  await page.locator('#switch-mode').click();
  await page.getByRole('heading', { name: /^Create your account/ }).waitFor();
  assert.equal((await scan(first, page)).status, 200);
  await userOf(page);
  await page.getByRole('button', { name: 'Add a key' }).click();
  await state(page, 'waiting');

  const account = await visitor.open(`${links.shop}/account`);
  await account.getByRole('button', { name: 'Log out' }).click();
  await account.waitForURL(`${links.shop}/?login=left`);
  assert.equal((await scan(second, page)).status, 200);
  await state(page, 'link');
  await page.locator('#confirm-link button[value="yes"]').click();
  await page.waitForURL(`${links.shop}/?login=refused`);
  assert.equal(await page.locator('#user').count(), 0);
  await account.reload();
  assert.equal(await account.locator('#user').count(), 0);
  await visitor.leave();
});

test('a Lightning wallet works without JavaScript', async () => {
  const [visitor, owner] = [await arrive({ javaScriptEnabled: false }), await makeWallet()];
  const page = await begin(visitor);
  assert.notEqual((await owner.lnurl(await lightningOf(page))).status, 'OK');
  await state(page, 'create');
  await owner.lnurl(await lightningOf(page));
  await userOf(page);
  await visitor.leave();
});

test('a cancelled login is reported at the shop', async () => {
  const visitor = await arrive();
  const page = await begin(visitor);
  await page.locator('#cancel button').click();
  await page.waitForURL(`${links.shop}/?login=cancelled`);
  assert.match(await page.getByRole('status').innerText(), /^You cancelled/);
  await checkLooks(page);
  await visitor.leave();
});

test('the shop rejects a login of another browser', async () => {
  const [thief, victim, owner] = [await arrive(), await arrive(), await makeWallet()];
  const page = await thief.open(`${links.shop}/login`);
  await state(page, 'waiting');
  await scan(owner, page);
  // The thief's browser is stopped before its callback, and the victim opens it with the thief's code.
  const returned = page.waitForRequest(`${links.shop}/return**`);
  await heldBack(page, `${links.shop}/return**`);
  await state(page, 'create');
  await scan(owner, page);
  const planted = (await returned).url();
  const lured = await victim.open(planted);
  assert.match(await lured.getByRole('status').innerText(), /^That login was refused/);
  await checkLooks(lured);
  await lured.goto(`${links.shop}/account`);
  assert.equal(await lured.locator('#user').count(), 0);
  await victim.leave();
  // The rejected code is invalid for its owner too.
  const other = await thief.open(planted);
  assert.match(await other.getByRole('status').innerText(), /^That login was refused|^That login has ended/);
  await thief.context.close();
});

test('the shop shows its login code', async () => {
  const visitor = await arrive();
  const page = await visitor.open(links.shop);
  await page.getByRole('link', { name: 'How it works' }).first().click();
  await checkLooks(page);
  const source = readFileSync(new URL('../../crates/signpost/src/demo/login.rs', import.meta.url), 'utf8');
  assert.equal(await page.locator('pre code').first().textContent(), source);
  await visitor.leave();
});
