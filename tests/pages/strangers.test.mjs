// Access by others: other browsers, previews, foreign pages, stolen links and codes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, codeOf, state } from './browser.mjs';
import { Stage } from './stage.mjs';
import { CrookedWallet } from './wallets.mjs';

const stage = Stage.set();
const FORBIDDEN = [/status of 403/];

test('another browser sees no code and starts again', async () => {
  const site = await stage.site();
  const { page, session } = await stage.atLogin(site);
  const stranger = await stage.visitor({ expected: FORBIDDEN });
  const seen = await stranger.open(session.page_url);
  const main = await state(seen, 'other');
  assert.match(await main.innerText(), /opened in another browser/);
  const html = await seen.content();
  const { code, number } = await codeOf(page);
  for (const secret of ['svc://', 'lnurl1', 'id="number"']) assert.ok(!html.toLowerCase().includes(secret), secret);
  for (const path of ['state', 'events']) {
    const reply = await stranger.context.request.get(`${session.page_url}/${path}`);
    assert.equal(reply.status(), 403, path);
  }
  await seen.getByRole('link', { name: /Start over/ }).click();
  assert.equal(await back(seen), 'out');
  // The owner's page is unchanged.
  assert.deepEqual(await codeOf(page), { code, number });
});

test('a link preview does not bind the login', async () => {
  const site = await stage.site();
  const session = await site.start('secret');
  const navigates = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  for (const headers of [
    { ...navigates, 'sec-purpose': 'prefetch' },
    { ...navigates, 'sec-purpose': 'prefetch;prerender' },
    { ...navigates, purpose: 'prefetch' },
    { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
    { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin: site.origin },
  ]) {
    const reply = await fetch(session.page_url, { headers });
    assert.equal(reply.status, 403, JSON.stringify(headers));
    assert.ok(!(await reply.text()).includes('svc://'));
  }
  const reader = await stage.visitor({ expected: FORBIDDEN });
  const page = await reader.open(site.origin);
  await page.evaluate((href) => {
    const link = Object.assign(document.createElement('link'), { rel: 'prefetch', href });
    return new Promise((resolve) => {
      link.onload = link.onerror = resolve;
      document.head.append(link);
    });
  }, session.page_url);
  const owner = await stage.visitor();
  await state(await owner.open(session.page_url), 'waiting');
});

test('without its cookie a browser loses the login', async () => {
  const site = await stage.site();
  const { visitor, page } = await stage.atLogin(site, { mode: 'register', expected: FORBIDDEN });
  const { code, number } = await codeOf(page);
  await visitor.context.clearCookies({ name: /signpost_page/ });
  await page.reload();
  await state(page, 'other');
  const answer = await new CrookedWallet().answer(code, number);
  await page.reload();
  await state(page, 'other');
  assert.equal((await site.users()).users.length, 0, JSON.stringify(answer));
});

test('a foreign form or a missing token changes nothing', async () => {
  const site = await stage.site();
  const { visitor, page, session } = await stage.atLogin(site);
  const shown = await codeOf(page);
  const token = await page.locator('form#cancel input[type=hidden]').inputValue();
  const name = await page.locator('form#cancel input[type=hidden]').getAttribute('name');
  const own = stage.server.origin;
  const foreign = await stage.atLogin(site);
  const foreignToken = await foreign.page.locator('form#cancel input[type=hidden]').inputValue();
  for (const path of ['cancel', 'renew', 'mode']) {
    for (const [headers, form] of [
      [{ origin: 'http://evil.test' }, { [name]: token, mode: 'register' }],
      [{ origin: 'null' }, { [name]: token, mode: 'register' }],
      [{ origin: own, 'sec-fetch-site': 'cross-site' }, { [name]: token, mode: 'register' }],
      [{ origin: own }, { mode: 'register' }],
      [{ origin: own }, { [name]: foreignToken, mode: 'register' }],
      [{ origin: own }, { [name]: '', mode: 'register' }],
    ]) {
      const reply = await visitor.context.request.post(`${session.page_url}/${path}`, { headers, form });
      assert.ok(reply.status() >= 400 && reply.status() < 500, `${path} ${JSON.stringify(headers)}: ${reply.status()}`);
    }
  }
  assert.deepEqual(await codeOf(page), shown);
  assert.equal((await site.read(session.id)).status, 'pending');
  // A page of another site, in this browser, that submits a form.
  const evil = await visitor.context.newPage();
  await evil.route('http://evil.test/', (route) => route.fulfill({ contentType: 'text/html', body: `<form method="post" action="${session.page_url}/cancel"><input name="${name}" value="${token}"></form>` }));
  visitor.origins.push('http://evil.test');
  visitor.expected.push(/status of 4\d\d/);
  await evil.goto('http://evil.test/');
  await Promise.all([evil.waitForNavigation(), evil.evaluate(() => document.forms[0].submit())]);
  assert.equal((await site.read(session.id)).status, 'pending');
  await state(page, 'waiting');
});

test('a shared page link does not log in', async () => {
  const site = await stage.site();
  const victimsKey = new CrookedWallet();
  const session = await site.start('the thief keeps this secret', { mode: 'register' });
  const victim = await stage.visitor();
  const page = await victim.open(session.page_url);
  const { code, number } = await codeOf(page);
  assert.equal((await victimsKey.answer(code, number)).status, 200);
  assert.match(await back(page), /^406 invalid_signature browser/);
  const brought = site.returns.at(-1).code;
  const stolen = await site.server.call('POST', `/sessions/${session.id}/complete`, { code: brought, browser_secret: 'the thief keeps this secret' }, site.who);
  assert.ok(stolen.status >= 400, JSON.stringify(stolen));
  const users = (await site.users()).users.map((user) => user.public_key);
  assert.ok(!users.includes(victimsKey.publicKey));
});

test('a planted code does not log in', async () => {
  const site = await stage.site();
  const thief = await stage.atLogin(site, { mode: 'register' });
  let planted;
  await thief.page.route(`${site.origin}/return**`, (route) => {
    planted = route.request().url();
    return route.fulfill({ status: 204 });
  });
  const { code, number } = await codeOf(thief.page);
  await new CrookedWallet().answer(code, number);
  await state(thief.page, 'done');
  const link = new URL(await thief.page.locator('a#continue').getAttribute('href'), stage.server.origin);
  assert.ok(link.searchParams.get('code'));
  const { visitor } = await stage.atLogin(site);
  const page = await visitor.open(planted ?? link.href);
  assert.match(await back(page), /^406 invalid_signature browser/);
});

test('pages belong to one environment, and cannot be guessed', async () => {
  const site = await stage.site();
  const session = await site.start('secret');
  const visitor = await stage.visitor({ expected: [/status of 404/] });
  for (const address of [
    session.page_url.replace('/sandbox/', '/'),
    `${session.page_url.slice(0, -1)}${session.page_url.endsWith('a') ? 'b' : 'a'}`,
    `${stage.server.origin}/sandbox/login/sess_`,
  ]) {
    const page = await visitor.context.newPage();
    const reply = await page.goto(address);
    assert.equal(reply.status(), 404, address);
    assert.equal(await page.locator('h1').count(), 1);
    await page.close();
  }
});
