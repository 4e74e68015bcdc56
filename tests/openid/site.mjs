// A site with a relying party's library, as a separate program.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export class Site {
  /**
   * Starts a program and registers it: it prints `{"origin"}` once it listens, reads its client as a line of JSON, and
   * prints `ready`. `redirect`: the path of its callback. `client`: options for its registration. `configured`: the name
   * for which the program's command prints a complete configuration, which is then used unmodified.
   */
  static async start(realm, [command, ...args], { redirect = '/callback', configured, client = [], env = {} } = {}) {
    const site = new Site();
    site.output = '';
    site.child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    site.child.stderr.setEncoding('utf8').on('data', (text) => (site.output += text));
    try {
      site.lines = createInterface({ input: site.child.stdout });
      ({ origin: site.origin, port: site.port } = JSON.parse(await site.line()));
      const options = configured ? ['--for', configured] : ['--post-logout-uri', `${site.origin}/`];
      site.client = await realm.createClient(`${site.origin}${configured ? '' : redirect}`, [...options, ...client]);
      site.child.stdin.write(`${JSON.stringify(site.client)}\n`);
      await site.line();
    } catch (error) {
      await site.end();
      throw error;
    }
    return site;
  }

  /** Returns its next line of output. */
  line() {
    return new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.lines.once('line', resolve);
      this.lines.once('close', () => reject(new Error(`the site ended: ${this.output}`)));
    });
  }

  async end() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}
