// The form in which people report what they found at a machine.
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

for (const javaScriptEnabled of [true, false]) {
  test(`a report from the machine's page to the thanks, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
    const machine = javaScriptEnabled ? 1 : 2;
    const options = { javaScriptEnabled, expected: [/^console: .* 422 .*\/report/] };
    const visitor = await Visitor.arrive(browser, [server.origin], options);
    const page = await visitor.open(`${server.origin}/atm/${machine}`);
    await page.locator('#right').getByLabel('It is gone').check();
    await page.locator('#right').getByRole('button').click();
    await page.waitForURL(/\/report\?/);
    assert.ok(await page.getByLabel('It is gone').isChecked());
    // What is wrong is said, and what was typed stays.
    await page.getByLabel('Something else is wrong').check();
    await page.getByLabel('How do you know?').selectOption('saw');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByLabel('How do you know?').inputValue(), 'saw');
    assert.ok(await page.getByLabel('Something else is wrong').isChecked());
    await page.getByLabel('It is gone').check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await page.getByRole('link', { name: 'Back to the machine' }).click();
    await page.locator('#reports').getByText('1 person says that it is gone.').waitFor();
    await visitor.leave();
  });
}

test('the form, its mistakes and its thanks look right in each language', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin], { expected: [/^console: .* 422 .*\/report/] });
  for (const [language, send] of [['en', 'Send'], ['es', 'Enviar']]) {
    const page = await visitor.open(`${server.origin}/atm/3/report?lang=${language}`);
    await checkLooks(page);
    await page.getByRole('button', { name: send }).click();
    await page.getByRole('alert').waitFor();
    await checkLooks(page);
    await page.locator('input[value="there"]').check();
    await page.getByRole('button', { name: send }).click();
    await page.locator('[data-state="thanks"]').waitFor();
    await checkLooks(page);
  }
  const page = await visitor.open(`${server.origin}/atm/3`);
  await checkLooks(page);
  await visitor.leave();
});
