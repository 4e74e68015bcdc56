// Passkeys: registration, login, and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Authenticator } from './authenticator.mjs';
import { back, codeOf, state } from './browser.mjs';
import { tabTo } from './looks.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

/** A user with a device that creates passkeys, in an empty tab. */
async function person(options) {
  const visitor = await stage.visitor(options);
  const page = await visitor.context.newPage();
  return { visitor, page, device: await Authenticator.plug(page) };
}

const button = (page) => page.locator('#use-passkey');
const heading = (page, name) => page.getByRole('heading', { name }).waitFor();

/** Creates an account with a passkey: `in usr_…`. */
async function register(site, { page, device }) {
  await page.goto(`${site.origin}/register`);
  await state(page, 'waiting');
  await device.touch(true);
  await button(page).click();
  const who = await back(page);
  await device.touch(false);
  assert.match(who, /^in usr_/);
  return who;
}

/** Goes to the login page and presses the button. */
async function tryPasskey(site, { page, device }) {
  // A device with automatic presence would answer the field at once.
  await page.addInitScript(() => (PublicKeyCredential.isConditionalMediationAvailable = async () => false));
  await page.goto(`${site.origin}/login`);
  await state(page, 'waiting');
  await device.touch(true);
  await button(page).click();
}

/** Creates an account with a wallet, up to the offer of a passkey. */
async function reachOffer(site, { page }, wallet) {
  await page.goto(`${site.origin}/register`);
  const { code, number } = await codeOf(page);
  assert.equal((await wallet.scan(code, number)).status, 200);
  await state(page, 'done');
  await page.locator('#passkey-offer').waitFor({ state: 'visible' });
}

/** Logs in with a wallet; returns the user. */
async function logIn(site, page, wallet) {
  await page.goto(`${site.origin}/login`);
  const { code, number } = await codeOf(page);
  assert.equal((await wallet.scan(code, number)).status, 200);
}

const userOf = async (site, who) => (await site.users()).users.find(({ id }) => who === `in ${id}`);

test('a user registers with a passkey, and logs in with its button', async () => {
  const site = await stage.site();
  const visitor = await person();
  const who = await register(site, visitor);
  const { method } = await site.read(site.last.id);
  assert.equal(method, 'passkey');
  const [passkey] = await visitor.device.passkeys();
  assert.ok(passkey.isResidentCredential && passkey.rpId === 'localhost');
  const { petname, credentials } = await userOf(site, who);
  assert.match(passkey.userName ?? `${petname} · localhost`, new RegExp(`^${petname} · localhost$`));
  assert.deepEqual(credentials.map(({ kind }) => kind), ['passkey']);
  await tryPasskey(site, visitor);
  assert.equal(await back(visitor.page), who);
  assert.equal((await visitor.device.passkeys()).length, 1);
});

test('the field offers a saved passkey', async () => {
  const site = await stage.site();
  const visitor = await person();
  const who = await register(site, visitor);
  // For the device, presence from the start is a choice in the browser's list.
  await visitor.device.touch(true);
  await visitor.page.goto(`${site.origin}/login`);
  assert.equal(await back(visitor.page), who);
});

test('an offered passkey logs in its user', async () => {
  const site = await stage.site();
  const visitor = await person();
  const wallet = await stage.wallet('offered');
  await reachOffer(site, visitor, wallet);
  assert.match(await visitor.page.locator('main').innerText(), /One key opens your account so far/);
  await visitor.device.touch(true);
  await button(visitor.page).click();
  const who = await back(visitor.page);
  const { credentials } = await userOf(site, who);
  assert.deepEqual(credentials.map(({ kind }) => kind).sort(), ['passkey', 'wallet']);
  await tryPasskey(site, visitor);
  assert.equal(await back(visitor.page), who);
  // With a passkey there is no further offer.
  await visitor.device.touch(false);
  await logIn(site, visitor.page, wallet);
  assert.equal(await back(visitor.page), who);
});

test('a declined offer is remembered', async () => {
  const site = await stage.site();
  const visitor = await person();
  const wallet = await stage.wallet('not now');
  await reachOffer(site, visitor, wallet);
  await visitor.page.locator('#not-now').click();
  const who = await back(visitor.page);
  assert.match(who, /^in usr_/);
  await logIn(site, visitor.page, wallet);
  assert.equal(await back(visitor.page), who);
});

test('a removed passkey is removed from the device', async () => {
  const site = await stage.site();
  const visitor = await person({ expected: [/status of 4/] });
  await reachOffer(site, visitor, await stage.wallet('removed'));
  await visitor.device.touch(true);
  await button(visitor.page).click();
  const user = await userOf(site, await back(visitor.page));
  const { id } = user.credentials.find(({ kind }) => kind === 'passkey');
  await site.server.ask('DELETE', `/domains/${site.domain.id}/users/${user.id}/credentials/${id}`, undefined, site.who);
  await tryPasskey(site, visitor);
  await state(visitor.page, 'refused');
  await heading(visitor.page, /No account at localhost has this passkey/);
  await visitor.device.holds(0);
});

test('a passkey of another site is rejected and stays', async () => {
  const site = await stage.site();
  const other = await stage.site('other', { domain: 'other.test', binds: false });
  const visitor = await person({ expected: [/status of 4/] });
  await register(site, visitor);
  const { page_url } = await other.start();
  await visitor.page.goto(page_url);
  await state(visitor.page, 'waiting');
  await visitor.device.touch(true);
  await button(visitor.page).click();
  await state(visitor.page, 'refused');
  await heading(visitor.page, 'This passkey belongs to localhost');
  assert.match(await visitor.page.locator('#notice').innerText(), /Choose one for other\.test\./);
  assert.equal((await visitor.device.passkeys()).length, 1);
});

test('a failed verification or a cancellation changes nothing', async () => {
  const site = await stage.site();
  const visitor = await person();
  await register(site, visitor);
  await visitor.page.goto(`${site.origin}/login`);
  const main = await state(visitor.page, 'waiting');
  await visitor.device.verify(false);
  await visitor.device.touch(true);
  await button(visitor.page).click();
  await visitor.page.locator('#use-passkey[aria-disabled]').waitFor({ state: 'detached' });
  assert.equal(await main.getAttribute('data-state'), 'waiting');
  assert.equal(await visitor.page.locator('#passkey-said').textContent(), '');
  await visitor.device.verify(true);
  await button(visitor.page).click();
  assert.match(await back(visitor.page), /^in usr_/);
});

test('a code that is replaced during the prompt is answered', async () => {
  const site = await stage.site();
  const visitor = await person();
  const who = await register(site, visitor);
  await visitor.page.addInitScript(() => {
    const credentials = Object.getPrototypeOf(navigator.credentials);
    const { get } = credentials;
    credentials.get = async function slow(options) {
      const answer = await get.call(this, options);
      await new Promise((resolve) => {
        window.letGo = resolve;
      });
      return answer;
    };
  });
  await tryPasskey(site, visitor);
  await visitor.page.waitForFunction(() => 'letGo' in window);
  const { code } = await codeOf(visitor.page);
  await site.server.ask('POST', `/sessions/${site.last.id}/refresh`, undefined, site.who);
  await visitor.page.waitForFunction((old) => document.getElementById('code')?.getAttribute('href') !== old, code);
  await visitor.page.evaluate(() => window.letGo());
  assert.equal(await back(visitor.page), who);
});

test('a user adds a passkey', async () => {
  const site = await stage.site();
  const visitor = await person();
  const wallet = await stage.wallet('adds');
  await reachOffer(site, visitor, wallet);
  await visitor.page.locator('#not-now').click();
  const who = await back(visitor.page);
  await visitor.page.goto(`${site.origin}/link?user=${who.slice(3)}`);
  await heading(visitor.page, /Add a key to your account at/);
  assert.equal(await visitor.page.locator('form#mode').count(), 0);
  await visitor.device.touch(true);
  await button(visitor.page).click();
  assert.equal(await back(visitor.page), who);
  await tryPasskey(site, visitor);
  assert.equal(await back(visitor.page), who);
  // The device now has a passkey: it reports that, without an error.
  await visitor.page.goto(`${site.origin}/link?user=${who.slice(3)}`);
  await state(visitor.page, 'waiting');
  await button(visitor.page).click();
  await visitor.page.getByText('This device has a passkey for localhost already').waitFor();
});

test('a remote wallet is added after its owner confirms', async () => {
  const site = await stage.site();
  const visitor = await person();
  const who = await register(site, visitor);
  const { page } = visitor;
  await page.goto(`${site.origin}/link?user=${who.slice(3)}`);
  await state(page, 'waiting');
  const stranger = await stage.wallet('stranger');
  const first = await codeOf(page);
  assert.equal((await stranger.scan(first.code, first.number)).status, 200);
  await state(page, 'link');
  assert.match(await page.locator('main').innerText(), new RegExp(`ends in ${stranger.publicKey.slice(-8)}`));
  await page.getByRole('button', { name: 'No, this is not mine' }).click();
  await state(page, 'waiting');
  const second = await codeOf(page);
  assert.notEqual(second.code, first.code);
  const own = await stage.wallet('own');
  assert.equal((await own.scan(second.code, second.number)).status, 200);
  await state(page, 'link');
  assert.match(await page.locator('main').innerText(), new RegExp(`ends in ${own.publicKey.slice(-8)}`));
  await tabTo(page, '#add-it');
  await page.keyboard.press('Enter');
  assert.equal(await back(page), who);
  const { credentials } = await userOf(site, who);
  assert.deepEqual(credentials.map(({ kind }) => kind).sort(), ['passkey', 'wallet']);
  assert.ok(credentials.some(({ public_key }) => public_key === own.publicKey));
});

test('a key of another account is not added', async () => {
  const site = await stage.site();
  const wallet = await stage.wallet('taken', site);
  const visitor = await person();
  const who = await register(site, visitor);
  await visitor.page.goto(`${site.origin}/link?user=${who.slice(3)}`);
  await state(visitor.page, 'waiting');
  const { code, number } = await codeOf(visitor.page);
  const refused = await wallet.scan(code, number);
  assert.equal(refused.status, 409);
  await state(visitor.page, 'refused');
  await heading(visitor.page, 'This key has an account already');
});

test('registration and the declined offer work by keyboard', async () => {
  const site = await stage.site();
  const visitor = await person();
  await visitor.page.goto(`${site.origin}/register`);
  await state(visitor.page, 'waiting');
  await tabTo(visitor.page, '#use-passkey');
  await visitor.device.touch(true);
  await visitor.page.keyboard.press('Enter');
  assert.match(await back(visitor.page), /^in usr_/);
  const two = await person();
  await reachOffer(site, two, await stage.wallet('keyboard'));
  await tabTo(two.page, '#not-now');
  await two.page.keyboard.press('Enter');
  assert.match(await back(two.page), /^in usr_/);
});

test('without JavaScript the page explains why passkeys are missing', async () => {
  const site = await stage.site();
  const { page } = await stage.atLogin(site, { javaScriptEnabled: false });
  assert.ok(!(await button(page).isVisible()) && !(await page.locator('#saved-passkeys').isVisible()));
  const why = page.locator('#by-passkey noscript p');
  assert.ok(await why.isVisible());
  assert.equal(await why.innerText(), 'Passkeys need JavaScript, which this browser does not run here.');
});
