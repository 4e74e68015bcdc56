// Failures around an open page: tabs, the history, the server, the site.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, codeOf, state } from './browser.mjs';
import { Stage } from './stage.mjs';
import { CrookedWallet } from './wallets.mjs';

const stage = Stage.set();

test('two tabs show one code, and both follow the answer', async () => {
  const site = await stage.site();
  const { visitor, page, session } = await stage.atLogin(site, { mode: 'register' });
  const second = await visitor.open(session.page_url);
  await state(second, 'waiting');
  const shown = await codeOf(page);
  assert.deepEqual(await codeOf(second), shown);
  assert.equal((await new CrookedWallet().answer(shown.code, shown.number)).status, 200);
  const outcomes = await Promise.all([back(page), back(second)]);
  // The site polls the API for each; the later call finds the session authenticated.
  assert.ok(outcomes.some((outcome) => /^in usr_/.test(outcome)), outcomes.join());
  assert.ok(outcomes.every((outcome) => /^in usr_|session_already_authenticated/.test(outcome)), outcomes.join());
});

test('without an event stream the page polls', async () => {
  const site = await stage.site();
  const visitor = await stage.visitor({ expected: [/ERR_|status of 503/] });
  await visitor.lose('events');
  const page = await visitor.open(`${site.origin}/register`);
  const { code, number } = await codeOf(page);
  assert.equal((await new CrookedWallet().answer(code, number)).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('after the login no page shows a code', async () => {
  const site = await stage.site();
  const { visitor, page, session } = await stage.atLogin(site, { mode: 'register' });
  const { code, number } = await codeOf(page);
  await new CrookedWallet().answer(code, number);
  assert.match(await back(page), /^in usr_/);
  const again = await visitor.open(session.page_url);
  const main = await state(again, 'done');
  assert.match(await main.innerText(), /You are logged in/);
  for (const href of await main.locator('a').evaluateAll((links) => links.map((link) => link.href))) {
    assert.ok(!new URL(href).searchParams.has('code'), href);
  }
  await page.goBack();
  await page.waitForLoadState();
  if (page.url().startsWith(session.page_url)) await state(page, 'done');
  assert.equal(site.returns.length, 1 + site.returns.findLastIndex((query) => query.session_id === session.id));
});

test('a session that the site cancels ends the page', async () => {
  const site = await stage.site();
  const { page, session } = await stage.atLogin(site);
  assert.equal((await site.server.call('DELETE', `/sessions/${session.id}`, undefined, site.who)).status, 204);
  const main = await state(page, 'cancelled');
  assert.equal(await page.locator('a[rel="signpost-code"]').count(), 0);
  await main.getByRole('link', { name: /Back to/ }).click();
  assert.equal(await back(page), 'access_denied');
});

test('names of sites and browsers are not markup', async () => {
  const evil = '<img src=x onerror=alert(1)>\u202etxet';
  const site = await stage.site('strange', {
    settings: { display_name: `Shop ${evil}` },
    session: { requester: { user_agent: `Curious ${evil}` } },
  });
  const { page } = await stage.atLogin(site);
  const main = await state(page, 'waiting');
  const text = await main.innerText();
  assert.match(text, /Curious <img src=x/);
  assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069]/);
  assert.equal(await page.locator('main img').count(), 0);
});

test('the page reports a server crash, and recovers', async (t) => {
  const own = await Stage.own(t);
  const site = await own.site();
  const { page } = await own.atLogin(site, { mode: 'register', expected: [/ERR_|status of 503/] });
  const shown = await codeOf(page);
  await own.server.kill();
  const main = await state(page, 'away');
  assert.match(await main.innerText(), /The server does not answer/);
  await own.server.start();
  await state(page, 'waiting');
  assert.deepEqual(await codeOf(page), shown);
  assert.equal((await new CrookedWallet().answer(shown.code, shown.number)).status, 200);
  assert.match(await back(page), /^in usr_/);
});

test('a crash after the answer does not lose the login', async (t) => {
  const own = await Stage.own(t);
  const site = await own.site();
  const { page, visitor, session } = await own.atLogin(site, { mode: 'register', expected: [/ERR_|status of 503/] });
  const { code, number } = await codeOf(page);
  await page.close();
  assert.equal((await new CrookedWallet().answer(code, number)).status, 200);
  await own.server.kill();
  await own.server.start();
  assert.match(await back(await visitor.open(session.page_url)), /^in usr_/);
});
