// Forward auth for users, on the host of an application without logins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, state } from './browser.mjs';
import { tabTo } from './looks.mjs';
import { PROXIED_STATES, atDoor, inside, openTo } from './proxied.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

for (const [how, options] of [['with scripts', {}], ['without JavaScript', { javaScriptEnabled: false }]]) {
  test(`a user reaches the requested page, and logs out, ${how}`, async () => {
    const { proxied, page } = await inside(stage, options);
    assert.equal(page.url(), `${proxied.origin}/notes?x=1`);
    await page.goto(`${proxied.origin}/.signpost/logout`);
    await state(page, 'log-out');
    await page.locator('form#logout button').click();
    await state(page, 'logged-out');
    // The user is still signed in at the login host; the page shows and links to it.
    await page.locator('a#sign-out').click();
    await state(page, 'logout');
    await page.locator('form#logout button').click();
    await state(page, 'logged-out');
    await page.goto(`${proxied.origin}/notes`);
    await state(page, 'waiting');
  });
}

test('the logout page works by keyboard', async () => {
  const { proxied, page } = await inside(stage);
  await page.goto(`${proxied.origin}/.signpost/logout`);
  await tabTo(page, 'main a[href="/"]');
  await page.keyboard.press('Enter');
  await page.locator('main[data-application=in]').waitFor();
  await page.goto(`${proxied.origin}/.signpost/logout`);
  await tabTo(page, 'form#logout button');
  await page.keyboard.press('Enter');
  await state(page, 'logged-out');
});

test('a cancelled login may be repeated', async () => {
  const proxied = await openTo(stage);
  const { page, wallet } = await atDoor(stage, proxied);
  await page.locator('form#cancel button').click();
  await state(page, 'denied');
  await page.getByRole('link', { name: 'Log in again' }).click();
  const { code, number } = await codeOf(page);
  await wallet.scan(code, number);
  await page.locator('main[data-application=in]').waitFor();
});

test('another user may log in after a rejection', async () => {
  const page = await PROXIED_STATES['proxied, nobody named'](stage);
  assert.match(await page.locator('code.address').innerText(), /^--allow usr_\w+$/);
  await page.getByRole('link', { name: 'Log in as somebody else' }).click();
  await state(page, 'waiting');
});

test('a callback works only in its browser', async () => {
  const proxied = await openTo(stage);
  const held = proxied.hold();
  const visitor = await stage.visitor();
  const wallet = await stage.wallet(Symbol('a person'), await stage.site());
  const page = await visitor.open(`${proxied.origin}/notes`);
  const { code, number } = await codeOf(page);
  await wallet.scan(code, number);
  const brought = await held;
  const thief = await stage.visitor({ expected: [/status of 400/] });
  const seen = await thief.open(brought);
  await state(seen, 'stale');
  await seen.goto(`${proxied.origin}/notes`);
  await state(seen, 'waiting');
  // The first browser can still use it.
  await page.goto(brought);
  await page.locator('main[data-application=in]').waitFor();
});
