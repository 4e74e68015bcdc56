// Three servers with a shared database and Redis, behind an address that distributes the requests in turn.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer, request as ask } from 'node:http';
import { promisify } from 'node:util';
import { Server } from '../pages/server.mjs';

const run = promisify(execFile);

export class Fleet {
  servers = [];

  /** Starts them in a new schema on this PostgreSQL. */
  static async start(postgres, redis, settings) {
    const schema = `openid_${randomBytes(8).toString('hex')}`;
    await run('psql', [postgres, '--quiet', '--command', `CREATE SCHEMA ${schema}`]);
    // Commands use this database too.
    process.env.SIGNPOST_DATABASE_URL = `${postgres}?options=-csearch_path%3D${schema}`;
    process.env.SIGNPOST_REDIS_URL = redis;
    const fleet = new Fleet();
    fleet.http = createServer((request, response) => fleet.#pass(request, response));
    await new Promise((resolve) => fleet.http.listen(0, '127.0.0.1', resolve));
    try {
      const PUBLIC_URL = `http://localhost:${fleet.http.address().port}`;
      for (let number = 0; number < 3; number++) fleet.servers.push(await Server.start({ ...settings, PUBLIC_URL }));
    } catch (error) {
      await fleet.close();
      throw error;
    }
    return fleet;
  }

  async close() {
    this.http.closeAllConnections();
    this.http.close();
    await Promise.all(this.servers.map((server) => server.close()));
  }

  #turn = 0;

  #pass(request, response) {
    const { port } = this.servers[this.#turn++ % this.servers.length];
    const { method, url, headers } = request;
    const passed = ask({ host: '127.0.0.1', port, path: url, method, headers });
    passed.once('response', (reply) => {
      response.writeHead(reply.statusCode, reply.rawHeaders);
      reply.pipe(response);
    });
    passed.on('error', (error) => response.destroy(error));
    request.pipe(passed);
  }
}
