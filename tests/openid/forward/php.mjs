// An application in PHP, behind PHP's own web server.
import { spawn } from 'node:child_process';
import { reservePort } from '../../ports.mjs';
import { listens } from './proxy.mjs';

export class PhpApplication {
  #output = '';

  static async start() {
    const application = new PhpApplication();
    application.port = await reservePort();
    const script = new URL('application.php', import.meta.url).pathname;
    const child = spawn('php', ['-S', `127.0.0.1:${application.port}`, script], { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.setEncoding('utf8').on('data', (text) => (application.#output += text));
    application.child = child;
    await listens(application.port, child, () => application.#output);
    return application;
  }

  async close() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}
