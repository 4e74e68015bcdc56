// The sites of `examples/` and of the SDKs, started as documented.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { reservePort } from '../ports.mjs';

/** Starts a site of `examples/` on a free port, on the domain `localhost` of this server's sandbox. */
export async function startExample(server, file) {
  const port = await reservePort();
  await server.command('domains', 'add', 'localhost', '--sandbox', '--handler', 'hosted', '--event-url', `http://localhost:${port}/events`);
  return startSite(server, { folder: '.', command: [process.execPath, new URL(`../../examples/${file}`, import.meta.url).pathname], port });
}

/** Starts a site in its folder, for an account's sandbox on this server; `secret` verifies its events. */
export async function startSite(server, { folder, command: [program, ...args], account = 'default', secret = '', port }) {
  port ??= await reservePort();
  const origin = `http://localhost:${port}`;
  const settings = {
    API: `${server.origin}/sandbox/v1`, KEY: await server.key('sandbox', account), PORT: port, SITE: origin, WEBHOOK_SECRET: secret,
    COOKIE_SECRET: 'of the site, 32 characters or more',
  };
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, ...settings }, stdio: process.env.SHOW_LOG ? 'inherit' : 'ignore' });
  await answers(origin, child);
  return { origin, close: () => ended(child) };
}

/** Waits until it responds. */
export async function answers(origin, child) {
  while (child.exitCode === null) {
    if (await fetch(origin).catch(() => null)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the site ended with ${child.exitCode}; SHOW_LOG=1 shows why`);
}

async function ended(child) {
  const end = once(child, 'exit');
  child.kill();
  await end;
}
