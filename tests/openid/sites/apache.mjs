// Debian's Apache with mod_auth_openidc, started like `apache2`, without the system's configuration.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { reservePort } from '../../ports.mjs';

const port = await reservePort();
const origin = `http://127.0.0.1:${port}`;
console.log(JSON.stringify({ origin }));

const folder = mkdtempSync(join(tmpdir(), 'signpost-apache-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const log = join(folder, 'log');
const lines = createInterface({ input: process.stdin });
let apache;

lines.once('line', async (line) => {
  const { configuration, ...client } = JSON.parse(line);
  const values = { folder, port, origin, ...client };
  const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const fill = (text) => text.replaceAll(/@(\w+)@/g, (_, name) => values[name]);
  writeFileSync(join(folder, 'apache.conf'), fill(read('apache.conf')));
  // The command's output is used unmodified.
  writeFileSync(join(folder, 'site.conf'), configuration ?? fill(read('apache-site.conf')));
  writeFileSync(join(folder, 'who.shtml'), read('apache.shtml'));
  // Apache changes its user if it is started as root.
  chmodSync(folder, 0o755);
  const args = ['-f', join(folder, 'apache.conf'), '-DFOREGROUND'];
  apache = spawn('/usr/sbin/apache2', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  apache.once('exit', (code) => {
    process.stderr.write(existsSync(log) ? readFileSync(log) : '');
    process.exit(code ?? 1);
  });
  await answers();
  console.log('ready');
});
// Ends this process after Apache.
const end = () => (apache ? apache.kill('SIGTERM') : process.exit());
lines.once('close', end);
process.once('SIGTERM', end);

/** Resolves once the port is open. */
async function answers() {
  const tries = () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  while (!(await tries())) await new Promise((resolve) => setTimeout(resolve, 20));
}
