// A tenant, an application, and a real proxy between them with forward auth.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { Realm } from '../realm.mjs';
import { Application } from './application.mjs';
import { reservePort } from '../../ports.mjs';
import { Proxy } from './proxy.mjs';

/** The `Accept` header of a browser's page request. */
export const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
export const REMOTE = ['Remote-User', 'Remote-Name', 'Remote-Email', 'Remote-Groups', 'Remote-Sub'];
/** The machine may be busy with a build. */
export const timeout = 120_000;

export class Deployment {
  /** `kind` is one of `PROXIES`; `application` starts the application. Users in the group `staff` are allowed. */
  static async start(kind, application = Application) {
    const started = new Deployment();
    try {
      started.realm = await Realm.open();
      started.application = await application.start();
      started.port = await reservePort();
      started.origin = `http://localhost:${started.port}`;
      const options = ['--trusted', '--allow', 'group:staff'];
      const client = await started.realm.createClient(`${started.origin}/.signpost/callback`, options);
      started.client = client.client_id;
      const ports = { client: started.client, signpost: started.realm.server.port, application: started.application.port };
      started.proxy = await Proxy.start(kind, started.port, ports);
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  async close() {
    await this.proxy?.close();
    await this.application?.close();
    await this.realm?.close();
  }

  /** Sends an exact request: `{status, headers, text}`. */
  async send(path, { method = 'GET', headers = {}, body } = {}) {
    const reply = await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, path, method, headers: { host: `localhost:${this.port}`, ...headers }, agent: false };
      const sent = request(options);
      sent.on('response', resolve).on('error', reject);
      sent.on('upgrade', (response, socket) => resolve(Object.assign(response, { text: '', socket: socket.destroy() })));
      sent.end(body);
    });
    const text = reply.text ?? (await reply.setEncoding('utf8').toArray()).join('');
    return { status: reply.statusCode, headers: reply.headers, text };
  }

  /** Returns the number of requests that reach the application during an act. */
  async reaches(act) {
    const before = this.application.reached;
    await act();
    return this.application.reached - before;
  }

  /** Returns a logged-in user of the staff: the user, and the cookie of the browser. */
  async colleague(groups = ['staff', 'night shift']) {
    const person = this.realm.person();
    assert.equal((await person.open(`${this.origin}/`)).status, 403);
    // IDs begin with the time.
    const { users } = await this.realm.server.ask('GET', `/domains/${this.realm.domain.id}/users`);
    const sub = users.map(({ id }) => id).sort().at(-1);
    await this.realm.describe(sub, { name: 'Zoë Łukasz', groups });
    const page = await person.open(`${this.origin}/`);
    assert.equal(page.status, 200, page.text);
    const { headers } = JSON.parse(page.text);
    return { person, sub, cookie: headers.find(([name]) => name.toLowerCase() === 'cookie')[1] };
  }
}
