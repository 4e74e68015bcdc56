// The pages of OpenID Connect: a login from an application, the consent, and the logout.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Application, atApplication, atConsent } from './applications.mjs';
import { codeOf, state } from './browser.mjs';
import { checkFocus, tabTo } from './looks.mjs';
import { Stage } from './stage.mjs';

const NAME = 'Ann’s wiki <b>of everything</b>';
let application;
const stage = Stage.set({}, async (stage) => {
  const site = await stage.site();
  application = await Application.open(stage.server, site.domain.id, '--name', NAME);
});
after(() => application?.close());

const plain = { javaScriptEnabled: false };
const WAYS = [['with scripts', {}], ['without JavaScript', plain]];
const OVER = { expected: [/status of 410/] };

/** Waits until the browser has returned to the application; returns the callback. */
async function backAgain(visitor, asked) {
  const page = await visitor.open(application.authorize(asked));
  await Application.back(page, '/cb');
  return application.returns.at(-1);
}

/** A new user, whose browser may also open the application. */
async function stranger(options) {
  const visitor = await stage.visitor(options);
  visitor.origins.push(application.origin);
  return visitor;
}

for (const [how, options] of WAYS) {
  test(`a user logs in at an application, ${how}`, async () => {
    await atApplication(stage, application, options);
    const { iss, state: sent } = application.returns.at(-1);
    assert.deepEqual([iss, sent], [application.client.issuer, 'a state']);
    const { status, body } = await application.redeem();
    assert.equal(status, 200, JSON.stringify(body));
    assert.match(body.id_token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test(`a denied consent returns no code, ${how}`, async () => {
    const { page } = await atConsent(stage, application, options);
    await page.locator('form#consent button#deny').click();
    await Application.back(page, '/cb');
    const { error, code, state: sent } = application.returns.at(-1);
    assert.deepEqual([error, code, sent], ['access_denied', undefined, 'a state']);
  });

  test(`a user confirms a logout from an application, ${how}`, async () => {
    const { visitor, page } = await atApplication(stage, application, options);
    await page.goto(application.logout());
    await state(page, 'logout');
    assert.equal((await backAgain(visitor)).error, undefined, 'the request ends no session');
    await page.locator('form#logout button').press('Enter');
    await Application.back(page, '/out');
    assert.equal(application.returns.at(-1).state, 'bye');
    await state(await visitor.open(application.authorize()), 'waiting');
  });
}

test('a cancelled login returns no code', async () => {
  const visitor = await stranger();
  const page = await visitor.open(application.authorize());
  await page.locator('form#cancel button').click();
  await Application.back(page, '/cb');
  assert.equal(application.returns.at(-1).error, 'access_denied');
});

test('a posted authorization request works', async () => {
  const visitor = await stranger();
  const page = await visitor.context.newPage();
  const { origin, pathname, searchParams } = new URL(application.authorize());
  const fields = [...searchParams].map(([name, value]) => `<input name="${name}" value="${value}">`).join('');
  const body = `<form method="post" action="${origin}${pathname}">${fields}</form>`;
  await page.route(`${application.origin}/form`, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(`${application.origin}/form`);
  await page.evaluate(() => document.forms[0].submit());
  await state(page, 'waiting');
});

test('the consent page shows the application, the user and the claims', async () => {
  const { page } = await atConsent(stage, application);
  assert.match(await page.locator('h1').innerText(), /^Let this application know who you are\?/);
  assert.equal(await page.locator('h1 bdi').innerText(), NAME);
  const text = await page.locator('main').innerText();
  assert.ok(text.includes(`You go back to ${new URL(application.origin).host}.`), text);
  assert.match(text, /You are [a-z]+-[a-z]+-\d+ at localhost\./);
  assert.equal(await page.locator('ul.points > li').count(), 4, text);
});

test('scopes that are not requested are not listed', async () => {
  const { page } = await atConsent(stage, application, {}, { scope: 'openid' });
  assert.equal(await page.locator('ul.points > li').count(), 1);
});

test('consent is requested once, for more scopes, or by prompt', async () => {
  const { visitor } = await atConsent(stage, application, {}, { scope: 'openid' });
  const [asked] = visitor.context.pages();
  await asked.locator('form#consent #allow').click();
  await Application.back(asked, '/cb');
  assert.equal((await backAgain(visitor, { scope: 'openid' })).error, undefined);
  await state(await visitor.open(application.authorize({ scope: 'openid profile' })), 'consent');
  await state(await visitor.open(application.authorize({ scope: 'openid', prompt: 'consent' })), 'consent');
});

test('prompt none returns an error without a page', async () => {
  const somebody = await stranger();
  assert.equal((await backAgain(somebody, { prompt: 'none' })).error, 'login_required');
  const { visitor } = await atConsent(stage, application);
  assert.equal((await backAgain(visitor, { prompt: 'none' })).error, 'consent_required');
});

test('prompt login requires a new login', async () => {
  const { visitor, wallet } = await atApplication(stage, application);
  assert.match((await backAgain(visitor)).code, /^sgp_code_/);
  for (const asked of [{ prompt: 'login' }, { max_age: '0' }]) {
    const page = await visitor.open(application.authorize(asked));
    const { code, number } = await codeOf(page);
    await wallet.scan(code, number);
    await Application.back(page, '/cb');
    assert.match(application.returns.at(-1).code, /^sgp_code_/, JSON.stringify(asked));
  }
});

test('prompt create opens the registration page', async () => {
  const visitor = await stranger();
  const page = await visitor.open(application.authorize({ prompt: 'create' }));
  await page.getByRole('heading', { name: /Create your account at/ }).waitFor();
});

test('an invalid client or redirect URI is shown, without a redirect', async () => {
  const visitor = await stage.visitor({ expected: [/status of 400/] });
  const before = application.returns.length;
  for (const asked of [{ client_id: 'cli_x' }, { client_id: '' }, { redirect_uri: '' }, { redirect_uri: `${application.origin}/cb/` }]) {
    const page = await visitor.open(application.authorize(asked));
    await state(page, 'client-fault');
    assert.ok(page.url().startsWith(application.client.issuer));
    assert.equal(await page.locator('meta[http-equiv=refresh], main a, main form').count(), 0, JSON.stringify(asked));
  }
  assert.equal(application.returns.length, before);
});

test('a consent page works only in its browser', async () => {
  const { visitor, page } = await atConsent(stage, application);
  const other = await stage.visitor(OVER);
  const seen = await other.open(page.url());
  const main = await state(seen, 'over');
  assert.match(await main.innerText(), /began in another browser/);
  assert.equal(await seen.locator('form').count(), 0);
  // Another user with a pending consent cannot use this consent.
  const third = await atConsent(stage, application, OVER);
  await third.page.goto(page.url());
  await state(third.page, 'over');
  await page.locator('form#consent #allow').click();
  await Application.back(page, '/cb');
  visitor.check();
});

test('an answered consent page is expired', async () => {
  const { visitor, page } = await atConsent(stage, application, OVER);
  const again = page.url();
  await page.locator('form#consent #deny').click();
  await Application.back(page, '/cb');
  await state(await visitor.open(again), 'over');
});

test('a login callback works once', async () => {
  const visitor = await stranger(OVER);
  let brought;
  await visitor.context.route('**/authorize/return?**', (route) => {
    brought = route.request().url();
    return route.continue();
  });
  const wallet = await stage.wallet(Symbol('a person'), await stage.site());
  const page = await visitor.open(application.authorize());
  const { code, number } = await codeOf(page);
  await wallet.scan(code, number);
  await state(page, 'consent');
  const thief = await stage.visitor(OVER);
  await state(await thief.open(brought), 'over');
  await page.locator('form#consent #allow').click();
  await Application.back(page, '/cb');
  await state(await visitor.open(brought), 'over');
});

test('a stale form changes nothing, and links to a valid one', async () => {
  const { page } = await atConsent(stage, application, { expected: [/status of 4/] });
  await page.locator('form#consent input[type=hidden]').first().evaluate((field) => (field.value = 'x'));
  const before = application.returns.length;
  await page.locator('form#consent #allow').click();
  await state(page, 'stale');
  assert.equal(application.returns.length, before);
  await page.getByRole('link', { name: 'Show the page again' }).click();
  await state(page, 'consent');
  await page.locator('form#consent #allow').click();
  await Application.back(page, '/cb');
});

test('an unverified logout request only asks for confirmation', async () => {
  const { visitor, page } = await atApplication(stage, application, { expected: [/status of 400/] });
  await page.goto(`${application.client.issuer}/logout?id_token_hint=x`);
  await state(page, 'logout-fault');
  assert.equal((await backAgain(visitor)).error, undefined);
  await page.locator('a#log-out').click();
  await state(page, 'logout');
  await page.locator('form#logout button').click();
  await state(page, 'logged-out');
  await state(await visitor.open(application.authorize()), 'waiting');
});

test('tab stops follow the reading order', async () => {
  const { page } = await atConsent(stage, application);
  const stops = await checkFocus(page);
  const order = [/^Skip/, /^Español$/, /^Do not allow$/, /^Allow$/].map((pattern) => stops.findIndex((stop) => pattern.test(stop)));
  assert.ok(order[0] >= 0, stops.join(', '));
  assert.deepEqual(order, order.toSorted((a, b) => a - b), stops.join(', '));
});

test('consent and logout work by keyboard', async () => {
  const { page } = await atConsent(stage, application);
  await tabTo(page, 'form#consent #allow');
  await page.keyboard.press('Enter');
  await Application.back(page, '/cb');
  assert.match(application.returns.at(-1).code, /^sgp_code_/);
  await page.goto(application.logout());
  await state(page, 'logout');
  await tabTo(page, 'form#logout button');
  await page.keyboard.press('Space');
  await Application.back(page, '/out');
});

test('the pages use the application\'s language, and can change it', async () => {
  const { page } = await atConsent(stage, application, {}, { ui_locales: 'de es' });
  await page.getByRole('heading', { name: /quién eres/ }).waitFor();
  await page.getByRole('link', { name: 'English' }).click();
  await page.getByRole('heading', { name: /who you are/ }).waitFor();
  await page.locator('form#consent #allow').click();
  await Application.back(page, '/cb');
});
