// The page at /mcp, with the instructions for assistants.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Visitor, launch } from './browser.mjs';
import { checkLooks } from './looks.mjs';
import { Server } from './server.mjs';

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
});
after(() => Promise.all([server.close(), browser.close()]));

for (const language of ['en', 'es']) {
  test(`the layout is right with each client, in ${language}`, async () => {
    const visitor = await Visitor.arrive(browser, [server.origin]);
    const page = await visitor.open(`${server.origin}/mcp?lang=${language}`);
    const clients = page.locator('.clients .switch label');
    assert.equal(await clients.count(), 6);
    for (let at = 0; at < 6; at += 1) {
      await clients.nth(at).click();
      const shown = page.locator('.client-panels > div:visible');
      assert.equal(await shown.count(), 1);
      assert.equal(await shown.locator('h3').textContent(), await clients.nth(at).textContent());
      await checkLooks(page);
    }
    await visitor.leave();
  });
}

test('the address is copied with a confirmation', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await visitor.open(`${server.origin}/mcp`);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('status').getByText('The address is copied.').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${server.origin}/mcp`);
  await checkLooks(page);
  await visitor.leave();
});

test('a client is chosen by keyboard', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/mcp`);
  await page.locator('#client-0').focus();
  for (const name of ['ChatGPT', 'Cursor', 'VS Code']) {
    await page.keyboard.press('ArrowRight');
    await page.getByRole('heading', { name, exact: true }).waitFor();
  }
  await page.keyboard.press('Tab');
  const focused = await page.evaluate(() => document.activeElement.getAttribute('href'));
  assert.match(focused, /^vscode:mcp\/install\?/);
  await visitor.leave();
});

test('without scripts only the copy button is missing', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { javaScriptEnabled: false });
  const page = await visitor.open(`${server.origin}/mcp`);
  assert.equal(await page.getByRole('button').count(), 0);
  await page.locator('label', { hasText: 'Cursor' }).click();
  assert.match(await page.getByRole('link', { name: 'Add to Cursor' }).getAttribute('href'), /^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=signpost&config=/);
  await visitor.leave();
});
