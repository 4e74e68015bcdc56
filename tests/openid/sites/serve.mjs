// A minimal site: it prints its address, reads its client, and stores users by a cookie.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';

/**
 * `open({issuer, client_id, client_secret, origin})` returns the routes: path → `(url, session, request, response)`, which
 * returns JSON, a `URL` to redirect to, or nothing if it has sent the response.
 */
export async function serve(open) {
  const sessions = new Map();
  let routes;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, origin);
    const id = /(?:^|; )site=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? randomUUID();
    if (!sessions.has(id)) sessions.set(id, {});
    response.setHeader('set-cookie', `site=${id}; Path=/; HttpOnly; SameSite=Lax`);
    try {
      const route = routes[url.pathname] ?? routes['*'];
      const result = await route(url, sessions.get(id), request, response);
      if (result instanceof URL) response.writeHead(303, { location: result.href }).end();
      else if (!response.writableEnded) answer(response, result);
    } catch (error) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(inspect(error));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  console.log(JSON.stringify({ origin }));
  const lines = createInterface({ input: process.stdin });
  lines.once('line', async (line) => {
    routes = await open({ ...JSON.parse(line), origin });
    console.log('ready');
  });
  // The parent process has ended.
  lines.once('close', () => process.exit());
}

/** Sends JSON, or null and 401 if no user is logged in. */
function answer(response, result) {
  response.writeHead(result ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(result ?? null));
}
