// Users change their keys on the account page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountOf, atAccount, change } from './accounts.mjs';
import { Authenticator } from './authenticator.mjs';
import { back, codeOf, state } from './browser.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

/** Adds the key of another wallet on the account page, and confirms the ownership. */
async function addKey(page, spare) {
  await page.locator('form#add button').click();
  await state(page, 'waiting');
  const { code, number } = await codeOf(page);
  assert.equal((await spare.scan(code, number)).status, 200);
  const asked = await state(page, 'link');
  assert.ok((await asked.innerText()).includes(spare.publicKey.slice(-8)), 'the page identifies the key');
  await page.locator('#add-it').click();
}

test('a user renames, adds and removes keys', async () => {
  const { site, wallet, visitor, page } = await atAccount(stage);
  assert.match(await page.locator('main').innerText(), /Add a second key/);
  await page.locator('summary').click();
  await page.locator('input[name=name]').fill('Old phone');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('heading', { name: 'Old phone' }).waitFor();

  const spare = await stage.wallet('spare');
  await addKey(page, spare);
  await state(page, 'account');
  await page.getByText('The key is added.').waitFor();
  assert.equal(await page.locator('ul.keys > li').count(), 2);
  assert.doesNotMatch(await page.locator('main').innerText(), /Add a second key/);

  await change(page, 0, 'Remove this key');
  await state(page, 'remove');
  await page.getByRole('heading', { name: 'Remove Old phone?' }).waitFor();
  await page.locator('form#remove button').click();
  await state(page, 'removed');
  const again = await visitor.open(accountOf(stage, site));
  await state(again, 'signed-out');

  await again.locator('form#login button').click();
  await state(again, 'waiting');
  const { code, number } = await codeOf(again);
  assert.equal((await spare.scan(code, number)).status, 200);
  await state(again, 'account');
  assert.equal(await again.locator('ul.keys > li').count(), 1);
  const { users } = await site.users();
  assert.ok(!users.some((user) => user.credentials.some((own) => own.public_key === wallet.publicKey)));
});

test('the return address is requested once after a link', async () => {
  const { page } = await atAccount(stage);
  const spare = await stage.wallet('spare, told twice');
  const went = [];
  page.on('request', (request) => {
    if (request.isNavigationRequest()) went.push(`${request.method()} ${new URL(request.url()).pathname.split('/').at(-1)}`);
  });
  // No locator works on a page that is being left, so the page itself reports its content.
  let shown;
  const isDone = new Promise((resolve) => (shown = (state) => state === 'done' && resolve()));
  await page.exposeFunction('shown', shown);
  await page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      const main = document.getElementById('main');
      new MutationObserver(() => window.shown(main.dataset.state)).observe(main, { attributes: true });
    });
  });
  await page.route(/\/link(\?|$)/, async (route) => {
    const request = route.request();
    const headers = { ...(await request.allHeaders()), origin: new URL(request.url()).origin };
    const response = await route.fetch({ headers, maxRedirects: 0 });
    assert.equal(response.status(), 303);
    await isDone;
    await route.fulfill({ response });
  });
  await addKey(page, spare);
  await page.getByText('The key is added.').waitFor();
  const [session] = went.filter((step) => step.startsWith('GET sess_'));
  const account = went.at(-1);
  assert.deepEqual(went.slice(went.indexOf('POST link')), ['POST link', session, 'GET return', account], 'the form returned to the account page');
});

test('an operator\'s link logs the user in', async () => {
  const { site, wallet } = await atAccount(stage);
  const { users } = await site.users();
  const { id } = users.find((user) => user.public_key === wallet.publicKey);
  const { page_url } = await stage.server.command('users', 'credentials', 'link', id, '--domain', site.domain.id);
  const visitor = await stage.visitor();
  const page = await visitor.open(page_url);
  await state(page, 'waiting');
  const { code, number } = await codeOf(page);
  const spare = await stage.wallet('after a loss');
  assert.equal((await spare.scan(code, number)).status, 200);
  await state(page, 'link');
  await page.locator('#add-it').click();
  await state(page, 'signed-out');
  const login = await visitor.open(`${site.origin}/login`);
  const next = await codeOf(login);
  assert.equal((await spare.scan(next.code, next.number)).status, 200);
  assert.equal(await back(login), `in ${id}`);
});

test('a removed passkey is removed from the device', async () => {
  const { page } = await atAccount(stage);
  const device = await Authenticator.plug(page);
  await device.touch(true);
  await page.locator('form#add button').click();
  await state(page, 'waiting');
  await page.locator('#use-passkey').click();
  await page.getByText('The key is added.').waitFor();
  assert.equal((await device.passkeys()).length, 1);
  await page.getByText(/^Passkey · ends in/).waitFor();
  await change(page, 1, 'Remove this key');
  await page.locator('form#remove button').click();
  await state(page, 'removed');
  await device.holds(0);
  await page.getByRole('link', { name: 'Back to your keys' }).click();
  await state(page, 'account');
  assert.equal(await page.locator('ul.keys > li').count(), 1);
});
