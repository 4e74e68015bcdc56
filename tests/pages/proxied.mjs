// An application behind forward auth: a minimal proxy with an authorization request before each request, and all pages on
// the application's host.
import { createServer, request as ask } from 'node:http';
import { codeOf, state } from './browser.mjs';

export class Proxied {
  /** Registers it with the domain of a site; `more` are additional flags of `clients create`. */
  static async open(server, domain, ...more) {
    const proxied = Object.assign(new Proxied(), { server });
    proxied.http = createServer((request, response) => {
      proxied.#answer(request, response).catch((error) => response.writeHead(502).end(String(error)));
    });
    await new Promise((resolve) => proxied.http.listen(0, '127.0.0.1', resolve));
    proxied.origin = `http://localhost:${proxied.http.address().port}`;
    const uri = `${proxied.origin}/.signpost/callback`;
    proxied.client = await server.command('clients', 'create', '--domain', domain, '--redirect-uri', uri, ...more);
    return proxied;
  }

  close() {
    this.http.closeAllConnections();
    this.http.close();
  }

  /** Intercepts the next callback, and returns its address. */
  hold() {
    return new Promise((resolve) => (this.holds = resolve));
  }

  async #answer(request, response) {
    if (this.holds && request.url.startsWith('/.signpost/callback')) {
      this.holds(`${this.origin}${request.url}`);
      this.holds = undefined;
      return response.writeHead(204).end();
    }
    const forwarded = { 'x-forwarded-method': request.method, 'x-forwarded-proto': 'http', 'x-forwarded-host': request.headers.host, 'x-forwarded-uri': request.url };
    const headers = { ...request.headers, ...forwarded };
    if (request.url.startsWith('/.signpost/')) return relay(await this.#send(request.method, request.url, headers, request), response);
    delete headers['content-length'];
    const judged = await this.#send('GET', `/forward/caddy?client=${this.client.client_id}`, headers);
    if (judged.statusCode !== 200) return relay(judged, response);
    judged.resume();
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!DOCTYPE html><html lang="en"><title>Application</title><link rel="icon" href="data:,"><main data-application="in">Here you are.</main>');
  }

  #send(method, path, headers, body) {
    return new Promise((resolve, reject) => {
      const sent = ask({ host: '127.0.0.1', port: this.server.port, method, path, headers }, resolve).on('error', reject);
      if (body) body.pipe(sent);
      else sent.end();
    });
  }
}

function relay(reply, response) {
  response.writeHead(reply.statusCode, reply.headers);
  reply.pipe(response);
}

/** Returns the stage's application for these users: opened at its first use, closed with the sites. */
async function proxiedOf(stage, ...more) {
  const site = await stage.site();
  stage.proxied ??= new Map();
  const key = more.join(' ');
  if (!stage.proxied.has(key)) {
    const proxied = await Proxied.open(stage.server, site.domain.id, ...more);
    stage.proxied.set(key, proxied);
    stage.sites.push(proxied);
  }
  return stage.proxied.get(key);
}

/** An application for every user. */
export const openTo = (stage) => proxiedOf(stage, '--allow', '*', '--yes', '--trusted');

/** A new user of the application at the login page. */
export async function atDoor(stage, proxied, options) {
  const wallet = await stage.wallet(Symbol('a person'), await stage.site());
  const visitor = await stage.visitor({ ...options, expected: [/status of 4(00|01|03)/] });
  const page = await visitor.open(`${proxied.origin}/notes?x=1`);
  await state(page, 'waiting');
  return { visitor, page, wallet };
}

/** A new user of the application after the login. */
export async function beyondDoor(stage, proxied, options) {
  const opened = await atDoor(stage, proxied, options);
  const { code, number } = await codeOf(opened.page);
  await opened.wallet.scan(code, number);
  await opened.page.waitForURL(`${proxied.origin}/**`);
  return opened;
}

/** A new user in the application. */
export async function inside(stage, options) {
  const proxied = await openTo(stage);
  const opened = await beyondDoor(stage, proxied, options);
  await opened.page.locator('main[data-application=in]').waitFor();
  return { proxied, ...opened };
}

async function atLogout(stage, options) {
  const opened = await inside(stage, options);
  await opened.page.goto(`${opened.proxied.origin}/.signpost/logout`);
  await state(opened.page, 'log-out');
  return opened;
}

/** Name → a page of the server on an application's host in that state. */
export const PROXIED_STATES = {
  'proxied, cancelled': async (stage, options) => {
    const { page } = await atDoor(stage, await openTo(stage), options);
    await page.locator('form#cancel button').click();
    await state(page, 'denied');
    return page;
  },

  'proxied, not named any more': async (stage, options) => {
    const { page, proxied } = await inside(stage, options);
    const site = await stage.site();
    await site.server.ask('PATCH', `/domains/${site.domain.id}/clients/${proxied.client.client_id}`, { allow: ['group:family'] }, site.who);
    try {
      await page.goto(`${proxied.origin}/notes`);
      await state(page, 'refused');
    } finally {
      await site.server.ask('PATCH', `/domains/${site.domain.id}/clients/${proxied.client.client_id}`, { allow: ['*'] }, site.who);
    }
    return page;
  },

  'proxied, nobody named': async (stage, options) => {
    const { page } = await beyondDoor(stage, await proxiedOf(stage, '--trusted'), options);
    await state(page, 'refused');
    return page;
  },

  'proxied, not named': async (stage, options) => {
    const { page } = await beyondDoor(stage, await proxiedOf(stage, '--trusted', '--allow', 'group:family'), options);
    await state(page, 'denied');
    return page;
  },

  'proxied, came back twice': async (stage, options) => {
    const { page, proxied } = await inside(stage, options);
    await page.goto(`${proxied.origin}/.signpost/callback?state=x&code=x`);
    await state(page, 'stale');
    return page;
  },

  'proxied, form without login': async (stage, options) => {
    const proxied = await openTo(stage);
    const visitor = await stage.visitor({ ...options, expected: [/status of 401/] });
    const page = await visitor.context.newPage();
    await page.route(`${proxied.origin}/form`, (route) => route.fulfill({ contentType: 'text/html', body: '<form method="post" action="/notes"></form>' }));
    await page.goto(`${proxied.origin}/form`);
    await page.evaluate(() => document.forms[0].submit());
    await state(page, 'unsent');
    return page;
  },

  'proxied, logout': async (stage, options) => (await atLogout(stage, options)).page,

  'proxied, logout stale': async (stage, options) => {
    const { page } = await atLogout(stage, options);
    await page.locator('form#logout input[type=hidden]').first().evaluate((field) => (field.value = 'x'));
    await page.locator('form#logout button').click();
    await state(page, 'nothing-done');
    return page;
  },

  'proxied, logged out': async (stage, options) => {
    const { page } = await atLogout(stage, options);
    await page.locator('form#logout button').click();
    await state(page, 'logged-out');
    return page;
  },

  'proxied, not logged in': async (stage, options) => {
    const proxied = await openTo(stage);
    const visitor = await stage.visitor(options);
    const page = await visitor.open(`${proxied.origin}/.signpost/logout`);
    await state(page, 'not-logged-in');
    return page;
  },
};
