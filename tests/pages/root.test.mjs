// The pages that everybody may open.
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

test('the reference of the API', async () => {
  const visitor = await Visitor.arrive(browser, [server.origin]);
  const page = await visitor.open(`${server.origin}/v1/reference`);
  await checkLooks(page);
  await visitor.leave();
});
