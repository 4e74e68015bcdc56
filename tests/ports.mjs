// Ports for programs that cannot choose a port themselves, or that are restarted on a fixed port.
import { mkdirSync, rmdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Below the system's ephemeral ports, so that no outgoing connection uses them; `tests/servers.sh` has another range.
const FIRST = 20_000;
const COUNT = 2_000;

/** Reserves a port until this process ends, among all concurrent tests. Returns it. */
export async function reservePort() {
  for (let offset = 0; offset < COUNT; offset++) {
    const port = FIRST + ((process.pid * 7 + offset) % COUNT);
    if (reserve(port) && (await isFree(port))) return port;
  }
  throw new Error(`no port is left: remove ${folder('*')}`);
}

/** Reserves this many ports. Returns them separated by commas, for an environment variable. */
export async function reservePorts(count) {
  const ports = [];
  while (ports.length < count) ports.push(await reservePort());
  return ports.join(',');
}

const folder = (port) => join(tmpdir(), `signpost-port-${port}`);

function reserve(port) {
  try {
    mkdirSync(folder(port));
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  process.once('exit', () => rmdirSync(folder(port)));
  return true;
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
