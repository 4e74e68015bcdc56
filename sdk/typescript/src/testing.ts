// A login at a site without a browser, for tests. It works only in the sandbox.
/// <reference types="node" />
import { request as requestOverHttp, type IncomingMessage } from 'node:http';
import { request as requestOverHttps } from 'node:https';
import { Signpost } from './client.js';
import { checkOptions, invalidArgument } from './error.js';
import type { SessionUser } from './wire.js';

/** Timeout of a request to the site or to the login page, in milliseconds. */
const TIMEOUT = 30_000;
/** Maximum size of a page, in bytes. */
const MAX_PAGE_BYTES = 1024 * 1024;
/** Maximum number of redirects between the site and the login page. */
const MAX_REDIRECTS = 5;

export interface LogInOptions {
  /** The site's API key, of the sandbox: `svc_test_…`. */
  key: string;
  /** Base URL of the sandbox: it ends in `/sandbox/v1`. Default: `http://localhost:8080/sandbox/v1`. */
  baseUrl?: string | undefined;
  /** The number of the simulated wallet, 1 to 100. Each wallet is one user, at every login. Default: 1. */
  wallet?: number | undefined;
  /** The path of the site to continue at. Default: `/`. */
  next?: string | undefined;
  /** Whether the user cancels the login. Default: false. */
  denied?: boolean | undefined;
  /** The path of the login handlers. Default: `/signpost`. */
  path?: string | undefined;
}

const OPTIONS: Record<keyof LogInOptions, true> = { key: true, baseUrl: true, wallet: true, next: true, denied: true, path: true };

/** The result of a login at a site. */
export interface SiteLogin {
  /** The site's cookies after the login. */
  cookies: Record<string, string>;
  /** The value of a `Cookie` header with these cookies. */
  cookie: string;
  /** The URL that the site redirected to after the login. */
  location: string;
  /** The user, as the service returns it. Undefined if the login was cancelled. */
  user: SessionUser | undefined;
}

/**
 * Logs a user in at a running site, through the site's own login handlers: as a browser, with a simulated wallet. The first
 * login of a wallet creates its user. Throws if the login fails, with the reason.
 *
 * ```js
 * const { cookie } = await logIn('http://localhost:9001', { key: process.env.KEY });
 * const page = await fetch('http://localhost:9001/account', { headers: { cookie } });
 * ```
 */
export async function logIn(site: string, options: LogInOptions): Promise<SiteLogin> {
  checkOptions(options, OPTIONS, 'logIn');
  const { key, baseUrl, wallet = 1, next = '/', denied = false, path = '/signpost' } = options;
  const origin = readOrigin(site);
  const signpost = sandboxClient(key, baseUrl);
  const browser = new Browser();
  const page = await openLoginPage(browser, `${origin}${path}/login${next === '/' ? '' : `?next=${encodeURIComponent(next)}`}`);
  if (!denied) await answer(signpost, browser, page, wallet);
  const back = await leave(browser, page, denied);
  if (new URL(back).origin !== origin) throw new Error(`the login returns to ${new URL(back).origin}, the site of the login handlers: log in there instead of at ${origin}`);
  const returned = await browser.open(back);
  const location = returned.location;
  if (location === undefined) throw new Error(`the site answered the return of the login with status ${returned.status}`);
  const reason = new URL(location).searchParams.get('login_error');
  if (reason !== null && !(denied && reason === 'access_denied')) throw new Error(`the login failed with login_error=${reason}; onError of the site has the reason`);
  const cookies = browser.cookiesOf(origin);
  const user = denied ? undefined : (await signpost.sessions.get(page.session)).user;
  return { cookies: Object.fromEntries(cookies), cookie: toHeader(cookies), location, user };
}

/** Returns a client of the sandbox. Throws for every other environment. */
function sandboxClient(key: string, baseUrl: string | undefined): Signpost {
  if (typeof key !== 'string' || !key.startsWith('svc_test_')) throw invalidArgument('logIn needs an API key of the sandbox, svc_test_…');
  const signpost = new Signpost(key, { baseUrl });
  if (!signpost.baseUrl.endsWith('/sandbox/v1')) throw invalidArgument('logIn needs a base URL of the sandbox, …/sandbox/v1');
  return signpost;
}

function readOrigin(site: string): string {
  const url = typeof site === 'string' && URL.canParse(site) ? new URL(site) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) throw invalidArgument('the site is an origin, such as http://localhost:9001');
  return url.origin;
}

/** A login page in the browser. */
interface LoginPage {
  url: string;
  /** The ID of the session. */
  session: string;
  html: string;
}

/** Follows the redirects from the site to the login page. */
async function openLoginPage(browser: Browser, start: string): Promise<LoginPage> {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { pathname } = new URL(url);
    const [, environment, session] = /(\/sandbox)?\/login\/(sess_\w+)$/.exec(pathname) ?? [];
    if (session !== undefined && environment === undefined) throw new Error('the site uses the live environment: give it the key and the base URL of the sandbox');
    const { status, location, html } = await browser.open(url);
    if (session !== undefined) {
      if (status !== 200) throw new Error(`the login page has status ${status}: ${textOf(html)}`);
      return { url, session, html };
    }
    const reason = location === undefined ? null : new URL(location).searchParams.get('login_error');
    if (reason !== null) throw new Error(`the site could not start a login (login_error=${reason}); onError of the site has the reason`);
    if (location === undefined) throw new Error(`${url} has status ${status} instead of a redirect to the login page: are the login handlers mounted there?`);
    url = location;
  }
  throw new Error(`${start} redirected more than ${MAX_REDIRECTS} times, and not to the login page`);
}

/** Answers the code of the page with a simulated wallet. For a new wallet, the page shows another code. */
async function answer(signpost: Signpost, browser: Browser, page: LoginPage, wallet: number): Promise<void> {
  for (const isNew of [false, true]) {
    const { status, body = '', error = '' } = await signpost.sessions.simulate(page.session, { wallet });
    if (status === 200) return;
    if (isNew || !body.includes('account_needed')) throw new Error(`the simulated wallet was refused with status ${status}: ${body}${error}`);
    await browser.open(page.url);
  }
}

/** Returns the URL that the page sends the browser back to. */
async function leave(browser: Browser, page: LoginPage, denied: boolean): Promise<string> {
  const { status, location, html } = denied ? await cancel(browser, page) : await browser.open(page.url);
  const back = location ?? attributeOf(html, denied ? /<a id="back"[^>]*>/ : /<a id="continue"[^>]*>/, 'href');
  if (back === undefined) throw new Error(`the login page has no link back to the site; its status is ${status}: ${textOf(html)}`);
  return back;
}

function cancel(browser: Browser, page: LoginPage): Promise<Shown> {
  const form = /<form id="cancel".*?<\/form>/s.exec(page.html)?.[0] ?? '';
  const action = attributeOf(form, /<form[^>]*>/, 'action');
  const token = attributeOf(form, /<input[^>]*name="token"[^>]*>/, 'value');
  if (action === undefined || token === undefined) throw new Error(`the login cannot be cancelled: ${textOf(page.html)}`);
  return browser.submit(new URL(action, page.url).href, new URLSearchParams({ token }).toString());
}

function attributeOf(html: string, tag: RegExp, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag.exec(html)?.[0] ?? '')?.[1];
  return value?.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Returns the start of the text of a page's main part, for errors. */
function textOf(html: string): string {
  const main = /<main[^>]*>(.*?)<\/main>/s.exec(html)?.[1] ?? html;
  return main.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ').trim().slice(0, 300);
}

const toHeader = (cookies: ReadonlyMap<string, string>): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

/** A response, as a browser receives it. */
interface Shown {
  status: number;
  /** The absolute URL of the redirect. */
  location: string | undefined;
  html: string;
}

/** A browser without scripts, with separate cookies for each origin. It uses `node:http`: `fetch` marks requests as a script's. */
class Browser {
  readonly #jars = new Map<string, Map<string, string>>();

  open(url: string): Promise<Shown> {
    return this.#send(url, 'GET', {});
  }

  submit(url: string, form: string): Promise<Shown> {
    return this.#send(url, 'POST', { origin: new URL(url).origin, 'content-type': 'application/x-www-form-urlencoded' }, form);
  }

  cookiesOf(origin: string): Map<string, string> {
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    return jar;
  }

  async #send(url: string, method: string, more: Record<string, string>, body?: string): Promise<Shown> {
    const { protocol, origin } = new URL(url);
    const jar = this.cookiesOf(origin);
    const headers = { accept: 'text/html', ...(jar.size > 0 && { cookie: toHeader(jar) }), ...more };
    const request = protocol === 'https:' ? requestOverHttps : requestOverHttp;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(url, { method, headers, signal: AbortSignal.timeout(TIMEOUT) }, resolve);
      sent.on('error', (cause) => reject(new Error(`no reply from ${origin}: ${cause.message}`, { cause })));
      sent.end(body);
    });
    for (const line of response.headers['set-cookie'] ?? []) store(jar, line);
    const target = response.headers.location;
    const location = target === undefined ? undefined : new URL(target, url).href;
    return { status: response.statusCode ?? 0, location, html: await readPage(response) };
  }
}

/** Stores or deletes the cookie of a `Set-Cookie` line. */
function store(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const [name = '', value = ''] = pair.split(/=(.*)/s);
  const isOver = attributes.some((attribute) => {
    const [key = '', time = ''] = attribute.split(/=(.*)/s);
    return (/^max-age$/i.test(key) && Number(time) <= 0) || (/^expires$/i.test(key) && Date.parse(time) <= Date.now());
  });
  if (isOver) jar.delete(name);
  else jar.set(name, value);
}

async function readPage(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_PAGE_BYTES) throw new Error('the page is longer than 1 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
