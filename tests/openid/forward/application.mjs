// An application without logins, which returns the request that it received, and counts requests.
import { once } from 'node:events';
import { createServer } from 'node:http';

export class Application {
  reached = 0;

  static async start() {
    const application = new Application();
    application.server = createServer((request, response) => application.#answer(request, response));
    // A WebSocket, as much of it as a proxy checks.
    application.server.on('upgrade', (request, socket) => {
      application.reached++;
      socket.on('error', () => {});
      const user = request.headers['remote-user'];
      socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-User: ${user}\r\n\r\n`);
    });
    application.server.listen(0, '127.0.0.1');
    await once(application.server, 'listening');
    application.port = application.server.address().port;
    return application;
  }

  #answer(request, response) {
    this.reached++;
    // In the original bytes: a name may be in UTF-8.
    const text = (raw) => Buffer.from(raw, 'latin1').toString('utf8');
    const pairs = request.rawHeaders.map(text);
    const headers = pairs.flatMap((name, at) => (at % 2 ? [] : [[name, pairs[at + 1]]]));
    const body = JSON.stringify({ method: request.method, url: request.url, headers });
    response.setHeader('content-type', 'application/json').end(body);
  }

  async close() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
