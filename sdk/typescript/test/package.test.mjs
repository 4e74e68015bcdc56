// The package as published.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = new URL('../', import.meta.url).pathname;
const tool = (name) => join(ROOT, 'tools/node_modules/.bin', name);
/** Maximum sizes of the package and of its code, to notice growth. */
const MOST_PACKED = 60 * 1024;
const MOST_SCRIPTS = 96 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'signpost-pack-'));
let packed;
before(async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT });
  [packed] = JSON.parse(stdout);
});
after(() => rmSync(folder, { recursive: true }));

test('the package contains exactly the required files', (t) => {
  const files = packed.files.map(({ path }) => path);
  const others = files.filter((path) => !/^dist\/[a-z]+\.(?:js|d\.ts)$/.test(path));
  assert.deepEqual(others.sort(), ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'package.json']);
  // Sites do not load the testing helper.
  const scripts = files.filter((path) => path.endsWith('.js') && path !== 'dist/testing.js').reduce((sum, path) => sum + statSync(join(ROOT, path)).size, 0);
  t.diagnostic(`${packed.size} bytes packed, ${packed.unpackedSize} unpacked, ${scripts} of scripts`);
  assert.ok(packed.size <= MOST_PACKED, `${packed.size}`);
  assert.ok(scripts <= MOST_SCRIPTS, `${scripts}`);
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.deepEqual([dependencies, peerDependencies], [undefined, undefined]);
});

test('publint and arethetypeswrong find no errors', async () => {
  const archive = join(folder, packed.filename);
  const publint = await run(process.execPath, [join(ROOT, 'tools/node_modules/publint/src/cli.js'), 'run', archive, '--strict']).catch((error) => error);
  assert.match(publint.stdout, /All good/, publint.stdout + publint.stderr);
  // The package contains ES modules only: `require` needs a recent Node.
  const attw = await run(tool('attw'), [archive, '--profile', 'esm-only', '--no-color']).catch((error) => error);
  assert.equal(attw.code, undefined, attw.stdout + attw.stderr);
});

test('all modules can be imported after an installation', async () => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)], { cwd: folder });
  const parts = ['', '/login', '/wallet', '/express', '/fastify', '/testing'].map((part) => `console.log(Object.keys(await import('@signpost/sdk${part}')).join());`);
  writeFileSync(join(folder, 'all.mjs'), parts.join('\n'));
  const { stdout } = await run(process.execPath, ['all.mjs'], { cwd: folder });
  assert.match(stdout, /Signpost,SignpostError/);
  assert.match(stdout, /loginHandlers/);
  assert.match(stdout, /walletHandlers/);
  assert.match(stdout, /expressLogin,expressWallet/);
  assert.match(stdout, /fastifyLogin,fastifyWallet/);
  assert.match(stdout, /^logIn$/m);
});

test('the core does not depend on Node', () => {
  for (const file of ['accounts', 'atms', 'bytes', 'client', 'clients', 'error', 'events', 'index', 'login', 'navigation', 'paging', 'site', 'startup', 'state', 'stream', 'transport', 'wallet', 'webhooks']) {
    const text = readFileSync(join(ROOT, `dist/${file}.js`), 'utf8').replaceAll(/^ *(?:\/\/|\/?\*).*$/gm, '');
    assert.doesNotMatch(text, /\b(?:Buffer|process|require|__dirname)\b|from 'node:|from '[^.]/, file);
  }
});

test('sources are short', (t) => {
  const lines = readdirSync(join(ROOT, 'src')).map((file) => [file, readFileSync(join(ROOT, 'src', file), 'utf8').split('\n').length - 1]);
  for (const [file, count] of lines) assert.ok(count <= 400, `${file}: ${count}`);
  t.diagnostic(`${lines.reduce((sum, [, count]) => sum + count, 0)} lines`);
});
