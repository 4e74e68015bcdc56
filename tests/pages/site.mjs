// A site with logins on the service's page, as an integrator would write it; it records its callbacks.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { sha256 } from './wallets.mjs';

const STYLE = 'body { font: 1rem system-ui; margin: 2rem; }';

export class Site {
  /** Opens a site and registers its domain, by default `localhost`. `at`: its origin behind a proxy. `session`: more members. */
  static async open(server, { domain = 'localhost', at, settings, session, binds = true, ...who } = {}) {
    const site = Object.assign(new Site(), { server, who, session, binds, returns: [] });
    site.http = createServer((request, response) => {
      site.#answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
    });
    await new Promise((resolve) => site.http.listen(0, '127.0.0.1', resolve));
    site.origin = at ?? `http://localhost:${site.http.address().port}`;
    site.domain = await server.host(domain, `${site.origin}/wallet`, settings, who).catch((error) => {
      site.close();
      throw error;
    });
    return site;
  }

  close() {
    this.http.closeAllConnections();
    this.http.close();
  }

  /** Opens a session for a browser with the secret. */
  start(secret, more) {
    const body = {
      domain: this.domain.domain,
      flow: 'page',
      metadata: { return_url: '/return' },
      ...(this.binds && { browser_hash: sha256(secret) }),
      ...this.session,
      ...more,
    };
    return this.server.ask('POST', '/sessions', body, this.who);
  }

  /** Returns the session from the API. */
  read(id) {
    return this.server.ask('GET', `/sessions/${id}`, undefined, this.who);
  }

  users() {
    return this.server.ask('GET', `/domains/${this.domain.id}/users`, undefined, this.who);
  }

  /** `/login`, `/register` and `/link` redirect the browser to the page; `/return` is the callback. */
  async #answer(request, response) {
    const url = new URL(request.url, this.origin);
    const user_agent = request.headers['user-agent'];
    const secret = /(?:^|; )site_secret=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    if (['/login', '/register', '/link'].includes(url.pathname)) {
      const made = secret ?? randomBytes(32).toString('base64url');
      const user = url.searchParams.get('user') ?? undefined;
      const requester = { user_agent, ...this.session?.requester };
      const session = await this.start(made, { mode: url.pathname.slice(1), user, requester });
      this.last = session;
      const cookie = `site_secret=${made}; Path=/; HttpOnly; SameSite=Lax`;
      response.writeHead(303, { location: session.page_url, 'set-cookie': cookie }).end();
    } else if (url.pathname === '/return') {
      show(response, await this.#welcome(url.searchParams, secret));
    } else {
      show(response, 'out', '<a id="login" href="/login">Log in</a>', url.pathname === '/' ? 200 : 404);
    }
  }

  /** Returns the result of a callback: `in usr_…`, or the reason for the failure. */
  async #welcome(query, secret) {
    this.returns.push(Object.fromEntries(query));
    if (query.get('error')) return query.get('error');
    const [id, code] = [query.get('session_id'), query.get('code')];
    const body = { code, ...(secret && { browser_secret: secret }) };
    const completed = await this.server.call('POST', `/sessions/${id}/complete`, body, this.who);
    if (completed.status === 200) return `in ${(await this.read(id)).user.id}`;
    return `${completed.status} ${completed.body.error.code} ${completed.body.error.details.reason ?? ''}`.trim();
  }
}

/** Sends a page of the site, with the result in `data-site`. */
function show(response, what, markup = '', status = 200) {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  response.end(`<!doctype html><html lang="en"><title>Site</title><link rel="icon" href="data:,"><style>${STYLE}</style>
    <main data-site="${what}"><h1>${what}</h1>${markup}</main>`);
}
