// `signpost mcp install` into third-party assistants, checked by their own commands; and a bundle, checked by the
// validator of the format's authors.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { TOOLS, end, program, run } from './program.mjs';

const BIN = new URL('assistants/node_modules/.bin/', import.meta.url).pathname;
const timeout = 180_000;
const running = program();
let data;

before(() => {
  // Fails if an assistant is missing, because nothing would be tested.
  for (const name of ['claude', 'codex', 'gemini', 'mcpb']) assert.ok(existsSync(join(BIN, name)), `${name} is not installed: run tests/clients/run.sh`);
});

/** An empty home directory, for the programs of a test. */
function home() {
  const folder = mkdtempSync(join(tmpdir(), 'signpost-home-'));
  // The complete environment of a program: scripts run with the runtime of this test.
  const env = { HOME: folder, PATH: `${BIN}:${dirname(process.execPath)}:/usr/bin:/bin`, GEMINI_CLI_TRUST_WORKSPACE: 'true' };
  const says = (name, ...args) => run(name, args, { cwd: folder, env });
  const runs = async (name, ...args) => (await says(name, ...args)).stdout;
  const install = async (...args) => JSON.parse(await runs(process.env.SIGNPOST, 'mcp', 'install', '--data-dir', data, '--json', ...args));
  return { folder, env, says, runs, install, leave: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

before(() => {
  // The data of a stopped server: a client starts the program on it, and two processes must not share it.
  data = mkdtempSync(join(tmpdir(), 'signpost-data-'));
  const rows = join(data, 'machines.csv');
  writeFileSync(rows, 'id,name,lat,lon,address,city,state\n1,One,25.7617,-80.1918,1 A St,Miami,FL\n2,Two,25.77,-80.19,2 B St,Miami,FL\n3,Three,25.78,-80.2,3 C St,Miami,FL\n');
  execFileSync(process.env.SIGNPOST, ['atms', 'import', rows, '--data-dir', data, '--source', 'test'], { stdio: 'pipe' });
});
after(() => rmSync(data, { recursive: true, force: true }));

for (const [name, listed, isConnected] of [
  ['claude', ['mcp', 'list'], ({ stdout }) => /^signpost: .*✔ Connected/m.test(stdout)],
  // It lists on standard error.
  ['gemini', ['mcp', 'list'], ({ stdout, stderr }) => /signpost: .* - Connected/m.test(stdout + stderr)],
  ['codex', ['mcp', 'list', '--json'], ({ stdout }) => JSON.parse(stdout).some((server) => server.name === 'signpost' && server.enabled)],
]) {
  for (const how of ['program', 'address']) {
    test(`${name} shows the ${how}`, { timeout }, async () => {
      const { says, install, leave } = home();
      const args = how === 'address' ? [name, '--url', running.mcp] : [name];
      const [done] = await install(...args);
      assert.deepEqual([done.action, done.changed], ['added', true]);
      assert.match(done.command[0], new RegExp(`/${name}$`));
      const shown = await says(name, ...listed);
      assert.ok(isConnected(shown), JSON.stringify(shown));
      const file = readFileSync(done.file, 'utf8');
      assert.equal((await install(...args))[0].changed, false);
      assert.equal(readFileSync(done.file, 'utf8'), file);
      assert.equal((await install(name, '--uninstall'))[0].action, 'removed');
      const rest = await says(name, ...listed);
      assert.ok(!`${rest.stdout}${rest.stderr}`.includes(done.client === 'codex' ? '"signpost"' : 'signpost: '), JSON.stringify(rest));
      leave();
    });

    test(`${name} reads the ${how} that was written into its file`, { timeout }, async () => {
      const { folder, env, says, install, leave } = home();
      const before = name === 'codex' ? '# mine\nmodel = "o" # newest\n' : '{\n  // mine\n  "theirs": {"a": 1.50}\n}\n';
      const plain = name === 'claude' ? before.replace('  // mine\n', '') : before;
      const file = { claude: '.claude.json', gemini: '.gemini/settings.json', codex: '.codex/config.toml' }[name];
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), plain);
      const path = env.PATH;
      env.PATH = '/usr/bin:/bin';
      const [done] = await install(...(how === 'address' ? [name, '--url', running.mcp] : [name]));
      assert.equal(done.command, undefined);
      env.PATH = path;
      const written = readFileSync(done.file, 'utf8');
      const shown = await says(name, ...listed);
      assert.ok(isConnected(shown), `${JSON.stringify(shown)}\n${written}`);
      // Claude stores counters in the file; all other members are unchanged.
      env.PATH = '/usr/bin:/bin';
      const untouched = readFileSync(done.file, 'utf8') === written;
      await install(name, '--uninstall');
      if (untouched) assert.equal(readFileSync(done.file, 'utf8'), plain);
      else assert.equal(JSON.parse(readFileSync(done.file, 'utf8')).mcpServers?.signpost, undefined);
      leave();
    });
  }
}

test('an unpacked bundle is valid and starts', { timeout }, async () => {
  const { folder, runs, leave } = home();
  const bundle = join(folder, 'signpost.mcpb');
  const written = JSON.parse(await runs(process.env.SIGNPOST, 'mcp', 'bundle', bundle, '--json'));
  const { stdout: sum } = await run('sha256sum', [bundle]);
  assert.equal(sum.split(' ')[0], written.sha256);
  assert.equal(statSync(bundle).size, written.bytes);
  const unpacked = join(folder, 'unpacked');
  await runs('mcpb', 'unpack', bundle, unpacked);
  const valid = await runs('mcpb', 'validate', join(unpacked, 'manifest.json'));
  assert.match(valid, /^Manifest schema validation passes!$/m);
  assert.match(valid, /Icon validation passed/);

  const manifest = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
  assert.deepEqual(manifest.tools.map((tool) => tool.name), TOOLS);
  const fill = (text) => text.replace('${__dirname}', unpacked).replace('${user_config.data_dir}', data);
  const { command, args } = manifest.server.mcp_config;
  const child = spawn(fill(command), args.map(fill), { stdio: ['pipe', 'pipe', 'inherit'] });
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return JSON.parse((await replies.next()).value).result;
  };
  const clientInfo = { name: 'bundle-test', version: '1.0.0' };
  await ask(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const found = await ask(2, 'tools/call', { name: 'find_nearest_bitcoin_atm', arguments: { location: 'Miami, FL', limit: 3 } });
  assert.equal(found.structuredContent.atms.length, 3);
  await end(child);
  leave();
});
