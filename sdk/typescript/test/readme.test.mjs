// The README's code, unmodified.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { Person, Server, answers, freePort, start } from './site.mjs';

const ROOT = new URL('../', import.meta.url).pathname;
const blocks = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
const folder = mkdtempSync(join(ROOT, 'test/made-'));
let server;
let port;
let domain;

before(async () => {
  server = await Server.start();
  port = await freePort();
  symlinkSync(join(ROOT, 'tools/node_modules'), join(folder, 'node_modules'));
  const signpost = new Signpost(server.key, { baseUrl: server.api });
  domain = await signpost.domains.create({ domain: 'localhost', webhook_url: `http://localhost:${port}/` });
  await signpost.domains.update(domain.id, { handler: 'hosted', event_url: `http://localhost:${port}/signpost/events` });
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Runs code of the README with the addresses of this test; returns its output. */
function run(file, code) {
  const here = code.replaceAll('localhost:9001', `localhost:${port}`).replaceAll('9001,', `${port},`);
  const client = "new Signpost(process.env.KEY, { baseUrl: process.env.API })";
  writeFileSync(join(folder, file), here.replaceAll('new Signpost(process.env.KEY)', client));
  const env = { ...process.env, API: server.api, KEY: server.key, COOKIE_SECRET: 'c'.repeat(64), WEBHOOK_SECRET: domain.webhook_secret };
  return start(process.execPath, [join(folder, file)], { env });
}

async function output(program) {
  let text = '';
  for await (const chunk of program.child.stdout) text += chunk;
  assert.equal((await program.exit)[0], 0, text);
  return text;
}

test('the shop with all options logs users in and receives events', async (t) => {
  const [code, signOut, , , currentUser, , events] = blocks;
  const place = '    // the options of the next sections\n';
  assert.ok(code.includes(place));
  const shop = run('shop.mjs', code.replace(place, [signOut, currentUser, events].join('')));
  t.after(() => shop.end());
  const origin = `http://localhost:${port}`;
  await answers(origin, shop);
  const person = new Person(server);
  assert.match((await person.open(origin)).text, /href="\/signpost\/login"/);
  // For an unknown key, the page shows a second code.
  const page = await person.open(`${origin}/signpost/login`);
  assert.equal(await person.answer(page), undefined);
  const home = await person.open(await person.answer(await person.open(page.url)));
  assert.match(home.text, /You are <b id="user">usr_\w+<\/b>/);
  const [line] = await new Promise((resolve) => shop.child.stdout.once('data', (chunk) => resolve(String(chunk).split('\n'))));
  assert.match(line, /^register usr_/);
  assert.match((await person.open(`${origin}/signpost/link`)).url, /\/login\/sess_/);
  assert.match((await person.open(`${origin}/signpost/logout`)).text, /Log in/);
});

const PRELUDE = `import express from 'express'; import { Signpost } from '@signpost/sdk';
const signpost = new Signpost(process.env.KEY); const app = express(); const newSession = (id) => id; const domainId = '';`;

test('the other code blocks run', async () => {
  assert.equal(blocks.length, 12);
  const [events, handlers, calls, errors, atms] = blocks.slice(7);
  const imports = (code) => code.replaceAll(/^import \{ (?:SignpostError|webhooks) \}.*\n/gm, '');
  const prelude = PRELUDE.replace('{ Signpost }', '{ Signpost, SignpostError, webhooks }').replace("domainId = ''", `domainId = '${domain.id}'`);
  const fast = calls.replace('timeout: 60', 'timeout: 0');
  const text = await output(run('pieces.mjs', [prelude, handlers, ...[events, fast, errors, atms].map((code) => `{\n${imports(code)}}`)].join('\n')));
  assert.match(text, /^svc:\/\/auth\?.* \d\d$/m);
  assert.match(text, new RegExp(`^409 ${domain.id} req_`, 'm'));
  assert.match(text, /\/mcp$/m);
});
