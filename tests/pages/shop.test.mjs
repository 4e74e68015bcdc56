// `signpost demo`: a person who has just started it, and tries everything that the shop has.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, before, test } from 'node:test';
import { Visitor, codeOf, launch, lightningOf, state } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Wallet } from './wallets.mjs';

const folder = mkdtempSync(join(tmpdir(), 'signpost-demo-'));
const visitors = [];
let demo;
let links;
let browser;

before(async () => {
  demo = spawn(process.env.SIGNPOST, ['demo', '--json', '--listen', '127.0.0.1:0'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [[line], opened] = await Promise.all([once(createInterface({ input: demo.stdout }), 'line'), launch()]);
  links = JSON.parse(line);
  browser = opened;
});
afterEach(async () => {
  for (const visitor of visitors.splice(0)) await visitor.leave();
});
after(async () => {
  await browser.close();
  demo.kill();
  await once(demo, 'exit');
  rmSync(folder, { recursive: true });
});

async function visit() {
  const visitor = await Visitor.arrive(browser, [links.server, links.shop].map((link) => new URL(link).origin));
  visitors.push(visitor);
  return { visitor, page: await visitor.open(links.shop) };
}

/** From the shop's front page to its login page. */
async function toLogin(page) {
  await page.getByRole('link', { name: 'Log in or create an account' }).click();
  await state(page, 'waiting');
}

test('somebody new makes an account, logs out, and comes back with a Lightning wallet', async () => {
  const { visitor, page } = await visit();
  await checkLooks(page);
  await page.getByRole('link', { name: 'How it works' }).first().click();
  await page.getByRole('heading', { name: 'How it works' }).waitFor();
  await checkLooks(page);
  await page.goBack();

  await toLogin(page);
  const wallet = await Wallet.make({ folder });
  const first = await codeOf(page);
  await wallet.scan(first.code, first.number);
  await state(page, 'create');
  const second = await codeOf(page);
  await wallet.scan(second.code, second.number);
  await page.getByText('Your account is new.').waitFor();
  const user = await page.locator('#user').innerText();
  assert.match(user, /^usr_/);
  await checkLooks(page);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('You are logged out.').waitFor();

  await toLogin(page);
  await wallet.lnurl(await lightningOf(page));
  await state(page, 'create');
  await page.goto(links.shop);
  await toLogin(page);
  const third = await codeOf(page);
  await wallet.scan(third.code, third.number);
  await page.getByText('Welcome back').waitFor();
  assert.equal(await page.locator('#user').innerText(), user);
  assert.equal((await visitor.context.cookies()).filter((cookie) => !cookie.httpOnly).length, 0);
});

test('whoever cancels is told so by the shop', async () => {
  const { page } = await visit();
  await toLogin(page);
  await page.locator('form#cancel button').click();
  await page.getByText('You cancelled.').waitFor();
  await checkLooks(page);
});

test('a code that another browser brought logs nobody in', async () => {
  const thief = await visit();
  await toLogin(thief.page);
  let brought;
  await thief.page.route('**/return?**', (route) => {
    brought = route.request().url();
    return route.fulfill({ status: 204 });
  });
  await thief.page.getByRole('button', { name: 'Create an account' }).click();
  await thief.page.getByRole('heading', { name: /Create your account/ }).waitFor();
  const wallet = await Wallet.make({ folder });
  const { code, number } = await codeOf(thief.page);
  await wallet.scan(code, number);
  await state(thief.page, 'done');
  const href = await thief.page.locator('a#continue').getAttribute('href');
  const victim = await visit();
  await toLogin(victim.page);
  await victim.page.goto(brought ?? href);
  await victim.page.getByText('That login was refused.').waitFor();
  await victim.page.goto(new URL('/account', links.shop).href);
  assert.equal(await victim.page.locator('#user').count(), 0);
});

test('it leaves nothing behind', () => {
  assert.deepEqual(readdirSync(folder).filter((name) => !name.startsWith('wallet-')), []);
});
