// A program in Node, Bun, Deno, and workerd, the runtime of Cloudflare Workers.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Signpost } from '@signpost/sdk';
import { Server, answers, freePort, start } from './site.mjs';

const smoke = new URL('smoke.mjs', import.meta.url).pathname;
const tool = (name) => new URL(`../tools/node_modules/.bin/${name}`, import.meta.url).pathname;
const RUNTIMES = {
  node: [process.execPath],
  bun: [tool('bun'), 'run'],
  deno: [tool('deno'), 'run', '--no-config', '--no-lock', '--cached-only', '--allow-net', '--allow-env'],
};
let server;
before(async () => {
  server = await Server.start();
  const signpost = new Signpost(server.key, { baseUrl: server.api });
  const { id } = await signpost.domains.create({ domain: 'localhost', webhook_url: 'http://localhost:9/' });
  await signpost.domains.update(id, { handler: 'hosted' });
});
after(() => server.close());

for (const [name, [program, ...args]] of Object.entries(RUNTIMES)) {
  test(`${name} runs it`, async (t) => {
    assert.ok(existsSync(program), `${name} is not installed: its npm package has no build for this machine`);
    const env = { ...process.env, API: server.api, KEY: server.key };
    const { stdout } = await promisify(execFile)(program, [...args, smoke], { env });
    assert.equal(stdout, 'ok\n');
    t.diagnostic((await promisify(execFile)(program, ['--version'])).stdout.split('\n')[0]);
  });
}

test('workerd runs it', async (t) => {
  const program = tool('workerd');
  assert.ok(existsSync(program), 'workerd is not installed: its npm package has no build for this machine');
  const folder = mkdtempSync(new URL('made-', import.meta.url).pathname);
  t.after(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  writeFileSync(join(folder, 'worker.mjs'), "import { smoke } from './smoke.mjs'; export default { fetch: async (_, env) => new Response(await smoke(env).catch((error) => error.stack)) };");
  const parts = readdirSync(new URL('../dist', import.meta.url)).filter((file) => file.endsWith('.js')).map((file) => [`dist/${file}`, `../../dist/${file}`]);
  const modules = [['test/worker.mjs', 'worker.mjs'], ['test/smoke.mjs', '../smoke.mjs'], ...parts];
  writeFileSync(join(folder, 'config.capnp'), `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["public", "private", "local"]))],
      sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]);
    const worker :Workerd.Worker = (
      modules = [${modules.map(([name, file]) => `(name = "${name}", esModule = embed "${file}")`).join(', ')}],
      bindings = [(name = "API", text = "${server.api}"), (name = "KEY", text = "${server.key}")],
      compatibilityDate = "2026-10-20");`);
  const worker = start(program, ['serve', join(folder, 'config.capnp')]);
  t.after(() => worker.end());
  const origin = `http://127.0.0.1:${port}`;
  await answers(origin, worker);
  assert.equal(await (await fetch(origin)).text(), 'ok');
});
