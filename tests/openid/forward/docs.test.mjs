// The files in docs/forward-auth.md are also used by the tests, and both proxies accept them unmodified.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { timeout } from './deployment.mjs';
import { CADDIES, NGINX, file, replace, unlogged } from './proxy.mjs';

const folder = mkdtempSync(join(tmpdir(), 'signpost-docs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const blocks = [...readFileSync(new URL('../../../docs/forward-auth.md', import.meta.url), 'utf8').matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, text]) => text);

/** Returns the only block that contains this text. */
function block(part) {
  const found = blocks.filter((text) => text.includes(part));
  assert.equal(found.length, 1, `${found.length} blocks with ${part}`);
  return found[0];
}

/** Returns the lines of a file that a proxy reads. */
const read = (text) => text.split('\n').filter((line) => !/^\s*(#|$)/.test(line)).join('\n');

test('the documented Caddyfile equals the deployed one', () => {
  const here = [['app.example.com {', '{\n\tadmin off\n}\nhttp://localhost:9080 {']];
  assert.equal(read(block('reverse_proxy')), read(replace(file('Caddyfile'), here)));
});

for (const { name, path } of CADDIES) {
  test(`${name} accepts the documented Caddyfile`, { timeout }, () => {
    writeFileSync(join(folder, 'Caddyfile'), block('reverse_proxy'));
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const tried = spawnSync(path, ['validate', '--adapter', 'caddyfile', '--config', 'Caddyfile'], { cwd: folder, env, encoding: 'utf8' });
    assert.equal(tried.status, 0, `${tried.error} ${tried.stderr}`);
  });
}

test('nginx accepts the file of the documented command', { timeout }, () => {
  // Without the last line, which starts nginx with paths that belong to root.
  const [make, start, ...rest] = block('sed ').replaceAll('\\\n', '').trim().split('\n');
  assert.match(start, /^sudo nginx -c /);
  assert.deepEqual(rest, []);
  mkdirSync(join(folder, 'deploy/forward-auth'), { recursive: true });
  cpSync(new URL('../../../deploy/forward-auth/nginx.conf', import.meta.url), join(folder, 'deploy/forward-auth/nginx.conf'));
  execFileSync('sh', ['-euc', make], { cwd: folder });
  const made = readFileSync(join(folder, 'nginx.conf'), 'utf8');
  assert.match(made, /^ *listen 9080;$/m);
  assert.match(made, /^ *server_name localhost;$/m);
  assert.equal(made.match(/client=cli_…/g)?.length, 2, made);
  for (const left of ['REPLACE_ME', 'app.example.com', 'ssl_certificate']) {
    assert.ok(!read(made).includes(left), `${left} is left: ${made}`);
  }
  writeFileSync(join(folder, 'tried.conf'), replace(made, [['http {', `http { ${unlogged(folder)}`]]));
  const options = ['-t', '-p', folder, '-c', join(folder, 'tried.conf'), '-e', 'stderr', '-g', `pid ${folder}/pid;`];
  const tried = spawnSync(NGINX, options, { encoding: 'utf8' });
  assert.equal(tried.status, 0, `${tried.error} ${tried.stderr}`);
});
