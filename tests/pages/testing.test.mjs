// The browser test of docs/testing.md, against the Express example of the SDK.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startSite } from './examples.mjs';
import { Stage } from './stage.mjs';

const ROOT = new URL('../../', import.meta.url).pathname;
const LAUNCH = 'chromium.launch()';

const stage = Stage.set();

test('the documented browser test passes', async (t) => {
  const site = await startSite(stage.server, { folder: join(ROOT, 'sdk/typescript'), command: [process.execPath, 'examples/express.mjs'] });
  t.after(() => site.close());
  const { id } = await stage.server.ask('POST', '/domains', { domain: 'localhost', webhook_url: `${site.origin}/hook` });
  await stage.server.ask('PATCH', `/domains/${id}`, { handler: 'hosted' });
  const folder = mkdtempSync(join(import.meta.dirname, 'made-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [, code] = /```mjs\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs/testing.md'), 'utf8'));
  for (const part of ['http://localhost:9001', "from 'playwright'", LAUNCH]) assert.ok(code.includes(part), part);
  const here = code.replace('http://localhost:9001', site.origin).replace("from 'playwright'", "from '../browser.mjs'");
  writeFileSync(join(folder, 'shop.test.mjs'), here.replace('{ chromium }', '{ launch }').replace(LAUNCH, 'launch()'));
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const words = ['--test', '--test-reporter=tap', join(folder, 'shop.test.mjs')];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env }).catch((error) => error);
  assert.match(stdout, /^# pass 1$/m, stdout);
});
