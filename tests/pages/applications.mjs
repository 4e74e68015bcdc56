// Applications with OpenID Connect: their callback and code exchange; and all pages of a login, for layout checks and
// screenshots.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { codeOf, state } from './browser.mjs';

export class Application {
  /** Registers it with the domain of a site; `more` are additional flags of `clients create`. */
  static async open(server, domain, ...more) {
    const application = Object.assign(new Application(), { server, returns: [], verifier: randomBytes(32).toString('base64url') });
    application.http = createServer((request, response) => {
      const url = new URL(request.url, application.origin);
      if (url.pathname !== '/favicon.ico') application.returns.push(Object.fromEntries(url.searchParams));
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!DOCTYPE html><html lang="en"><title>Application</title><main data-application="${url.pathname}">Here you are.</main>`);
    });
    await new Promise((resolve) => application.http.listen(0, '127.0.0.1', resolve));
    application.origin = `http://localhost:${application.http.address().port}`;
    const uris = ['--redirect-uri', `${application.origin}/cb`, '--post-logout-uri', `${application.origin}/out`];
    application.client = await server.command('clients', 'create', '--domain', domain, ...uris, ...more);
    return application;
  }

  close() {
    this.http.closeAllConnections();
    this.http.close();
  }

  /** Returns the authorization URL for a browser. */
  authorize(more = {}) {
    const query = new URLSearchParams({
      client_id: this.client.client_id,
      redirect_uri: `${this.origin}/cb`,
      response_type: 'code',
      scope: 'openid profile email offline_access',
      state: 'a state',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    });
    return `${this.client.issuer}/authorize?${query}`;
  }

  /** Returns the logout URL for a browser. */
  logout(more = {}) {
    const query = new URLSearchParams({
      client_id: this.client.client_id,
      post_logout_redirect_uri: `${this.origin}/out`,
      state: 'bye',
      ...more,
    });
    return `${this.client.issuer}/logout?${query}`;
  }

  /** Exchanges the last code that the browser returned. */
  async redeem() {
    const form = { grant_type: 'authorization_code', code: this.returns.at(-1).code, redirect_uri: `${this.origin}/cb`, code_verifier: this.verifier };
    const authorization = `Basic ${Buffer.from(`${this.client.client_id}:${this.client.client_secret}`).toString('base64')}`;
    const reply = await fetch(`${this.client.issuer}/token`, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
    return { status: reply.status, body: await reply.json() };
  }

  /** Waits until the browser has returned to this path. */
  static back(page, path) {
    return page.locator(`main[data-application="${path}"]`).waitFor();
  }
}

/** A new user of an application after the login, at the consent page. */
export async function atConsent(stage, application, options, asked) {
  const site = await stage.site();
  const wallet = await stage.wallet(Symbol('a person'), site);
  const visitor = await stage.visitor(options);
  visitor.origins.push(application.origin);
  const page = await visitor.open(application.authorize(asked));
  const { code, number } = await codeOf(page);
  await wallet.scan(code, number);
  await state(page, 'consent');
  return { visitor, page, wallet };
}

/** A new user of an application after the consent and the return. */
export async function atApplication(stage, application, options) {
  const opened = await atConsent(stage, application, options);
  await opened.page.locator('form#consent button#allow').click();
  await Application.back(opened.page, '/cb');
  return opened;
}

/** Returns the stage's application with this name, opened at its first use and closed with the sites. */
async function applicationOf(stage, name = 'Ann’s wiki', ...more) {
  const site = await stage.site();
  stage.applications ??= new Map();
  if (!stage.applications.has(name)) {
    const application = await Application.open(stage.server, site.domain.id, ...(name ? ['--name', name] : []), ...more);
    stage.applications.set(name, application);
    stage.sites.push(application);
  }
  return stage.applications.get(name);
}

/** Prevents navigation to the application. */
const stay = (page, application) => page.route(`${application.origin}/**`, (route) => route.fulfill({ status: 204 }));

/** A page with a status of 4xx that is not the user's fault. */
async function refused(stage, options, address) {
  const visitor = await stage.visitor({ ...options, expected: [/status of 4(00|10)/] });
  return visitor.open(address);
}

/** Presses a button of another page's form. */
async function pressStale(page, form, button) {
  await page.locator(`${form} input[type=hidden]`).first().evaluate((field) => (field.value = 'x'));
  await page.locator(`${form} ${button}`).click();
  await state(page, 'stale');
  return page;
}

/** Name → a page of an issuer in that state. */
export const APPLICATION_STATES = {
  'login for an application': async (stage, options) => {
    const application = await applicationOf(stage);
    const visitor = await stage.visitor(options);
    const page = await visitor.open(application.authorize());
    await state(page, 'waiting');
    return page;
  },

  consent: async (stage, options) => (await atConsent(stage, await applicationOf(stage), options)).page,

  'consent of long names': async (stage, options) => {
    const application = await applicationOf(stage, 'Wirtschaftsprüfungsgesellschaftszusammenschluss ׳שלום׳ <b>&');
    return (await atConsent(stage, application, options)).page;
  },

  'consent of an application without a name': async (stage, options) => {
    const application = await applicationOf(stage, '', '--email', 'none');
    return (await atConsent(stage, application, options, { scope: 'openid' })).page;
  },

  'consent refused, stale': async (stage, options) => {
    const { visitor, page } = await atConsent(stage, await applicationOf(stage), options);
    visitor.expected.push(/status of 4/);
    return pressStale(page, 'form#consent', '#allow');
  },

  'leaving after consent': async (stage, options) => {
    const application = await applicationOf(stage);
    const { page } = await atConsent(stage, application, options);
    await stay(page, application);
    await page.locator('form#consent #allow').click();
    await state(page, 'leaving');
    return page;
  },

  'logout, asked by an application': async (stage, options) => {
    const application = await applicationOf(stage);
    const { page } = await atApplication(stage, application, options);
    await page.goto(application.logout());
    await state(page, 'logout');
    return page;
  },

  'logout, asked by nobody': async (stage, options) => {
    const application = await applicationOf(stage);
    const { page } = await atApplication(stage, application, options);
    await page.goto(`${application.client.issuer}/logout`);
    await state(page, 'logout');
    return page;
  },

  'logout refused, stale': async (stage, options) => {
    const page = await APPLICATION_STATES['logout, asked by nobody'](stage, { ...options, expected: [/status of 4/] });
    return pressStale(page, 'form#logout', 'button');
  },

  'logged out': async (stage, options) => {
    const page = await APPLICATION_STATES['logout, asked by nobody'](stage, options);
    await page.locator('form#logout button').click();
    await state(page, 'logged-out');
    return page;
  },

  'leaving after logout': async (stage, options) => {
    const page = await APPLICATION_STATES['logout, asked by an application'](stage, options);
    await stay(page, await applicationOf(stage));
    await page.locator('form#logout button').click();
    await state(page, 'leaving');
    return page;
  },

  'unknown application': async (stage, options) => {
    return refused(stage, options, (await applicationOf(stage)).authorize({ client_id: 'cli_000000000000000000000000000000000000' }));
  },

  'unknown redirect URI': async (stage, options) => {
    const redirect_uri = `https://app.test/${'a-long-address-'.repeat(8)}`;
    return refused(stage, options, (await applicationOf(stage)).authorize({ redirect_uri }));
  },

  'no redirect URI': async (stage, options) => {
    return refused(stage, options, (await applicationOf(stage)).authorize({ redirect_uri: '' }));
  },

  'logout that is not trusted': async (stage, options) => {
    const { client } = await applicationOf(stage);
    return refused(stage, options, `${client.issuer}/logout?id_token_hint=x`);
  },

  'request over': async (stage, options) => {
    const { client } = await applicationOf(stage);
    return refused(stage, options, `${client.issuer}/authorize/return?session_id=x&code=x`);
  },
};
