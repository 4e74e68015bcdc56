// The sites of `examples/`, as their readers start them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Starts a site of `examples/` on a free port, on the domain `localhost` of this server's sandbox. */
export async function startExample(server, file) {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  await server.command('domains', 'add', 'localhost', '--sandbox', '--handler', 'hosted', '--event-url', `${origin}/events`);
  const { key } = await server.command('keys', 'create', '--environment', 'sandbox', '--name', 'site');
  const env = { ...process.env, API: `${server.origin}/sandbox/v1`, KEY: key, PORT: port };
  const child = spawn(process.execPath, [new URL(`../../examples/${file}`, import.meta.url).pathname], { env, stdio: 'inherit' });
  await answers(origin, child);
  return { origin, close: () => ended(child) };
}

async function freePort() {
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Once it answers, it is there. */
async function answers(origin, child) {
  while (child.exitCode === null) {
    if (await fetch(origin).catch(() => null)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the site ended with ${child.exitCode}`);
}

async function ended(child) {
  const end = once(child, 'exit');
  child.kill();
  await end;
}
