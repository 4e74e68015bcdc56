import { fromBase64Url, hmac, isHmac, sha256, toBase64Url, utf8 } from './bytes.js';
import type { Signpost } from './client.js';
import { SignpostError, invalidArgument } from './error.js';
import { EventEndpoint, type EventOptions } from './events.js';
import { Site, cookieFor, cookiesOf, isLocalPath, readCookies, readNext, reply, toLocation, type SetCookies } from './site.js';
import type { Mode, Session } from './wire.js';

export type { EventOptions, SeenEvents } from './events.js';
export { isLocalPath, siteCookie, type SetCookies, type SiteCookie } from './site.js';

const STATE_SECONDS = 1800;
/** Maximum time that a browser waits for a retry, in seconds. */
const LONGEST_WAIT = 3;
/** Maximum pending logins per browser. */
const MAX_STATES = 3;

/** A completed login. */
export interface Login {
  /** `usr_…`, which does not depend on the key that was used. */
  user: string;
  /** The session, with the key and its kind: `session.user.public_key`, `session.method`. */
  session: Session;
  /** `register` if the account is new, `link` if a key was added to it. */
  mode: Mode;
  /** The path to continue at. */
  next: string;
}

export interface LoginOptions extends EventOptions {
  /** The hosted domain that users log in to. */
  domain: string;
  /** The site's public origin, such as `https://shop.example`. */
  site: string;
  /** The path of the handlers. Default: `/signpost`. */
  path?: string | undefined;
  /** Signs the cookie of a pending login: 32 characters or more, identical on all servers of the site. */
  cookieSecret: string;
  /** Logs the browser in: sets the site's own cookie, with a new value. Returns `Set-Cookie` values, if any. */
  signIn(login: Login, request: Request): SetCookies | Promise<SetCookies>;
  /**
   * Returns the ID (`usr_…`) of the logged-in user. With it, `<path>/link` adds another key to the user's account. It is
   * called again when the browser returns: a link completes only if its user is still logged in.
   */
  currentUser?: ((request: Request) => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /** The target of the browser, with `login_error` in the query, if the login failed. Default: `/`. */
  failedPath?: string | undefined;
  /** @internal */
  clock?: { now?: () => number; randomBytes?: () => Uint8Array<ArrayBuffer> } | undefined;
}

/** Handlers of a site that uses the service's login page. */
export interface LoginHandlers {
  /** Responds to requests below `path`; undefined for all others. */
  handle(request: Request): Promise<Response | undefined>;
  /** Redirects a browser to the login page. */
  start(request: Request, mode?: Mode): Promise<Response>;
  /** Completes the login of a browser that returned. */
  finish(request: Request): Promise<Response>;
  /** Receives the service's events. */
  events(request: Request): Promise<Response>;
}

/**
 * Creates the handlers: `GET <path>/login`, `/register`, `/link` and `/return`, and `POST <path>/events`. They bind each
 * login to its browser with a signed cookie; they need no database.
 */
export function loginHandlers(signpost: Signpost, options: LoginOptions): LoginHandlers {
  const flow = new LoginFlow(signpost, options);
  return {
    handle: (request) => flow.handle(request),
    start: (request, mode = 'login') => flow.start(request, mode),
    finish: (request) => flow.finish(request),
    events: (request) => flow.events.receive(request),
  };
}

interface State {
  secret: string;
  mode: Mode;
  next: string;
  /** The user of a link. Undefined for other modes. */
  user: string | undefined;
}

class LoginFlow {
  readonly events: EventEndpoint;
  readonly #signpost: Signpost;
  readonly #options: LoginOptions;
  readonly #site: Site;
  readonly #key: Uint8Array<ArrayBuffer>;
  readonly #failedPath: string;
  readonly #now: () => number;
  readonly #randomBytes: () => Uint8Array<ArrayBuffer>;

  constructor(signpost: Signpost, options: LoginOptions) {
    const { cookieSecret, failedPath = '/', clock = {} } = options;
    if (typeof cookieSecret !== 'string' || [...cookieSecret].length < 32) {
      throw invalidArgument('cookieSecret needs 32 characters or more; create it with: openssl rand -hex 32');
    }
    if (!options.domain) throw invalidArgument('domain is missing: the hosted domain that people log in to');
    if (!isLocalPath(failedPath) || failedPath.includes('#')) {
      throw invalidArgument('failedPath is a path of the site without a fragment, such as /login');
    }
    this.#site = new Site(options.site, options.path);
    this.#now = clock.now ?? Date.now;
    this.#randomBytes = clock.randomBytes ?? (() => crypto.getRandomValues(new Uint8Array(32)));
    this.events = new EventEndpoint(options, this.#now);
    // The user is waiting.
    this.#signpost = signpost.with({ longestWait: LONGEST_WAIT });
    this.#options = options;
    this.#key = utf8(cookieSecret);
    this.#failedPath = failedPath;
  }

  async handle(request: Request): Promise<Response | undefined> {
    const route = this.#site.route(request) ?? '';
    const method = route === '/events' ? 'POST' : 'GET';
    if (!/^\/(?:login|register|link|return|events)$/.test(route)) return undefined;
    if (request.method !== method) return reply(405, { error: `this path requires ${method}` }, { allow: method });
    if (route === '/events') return this.events.receive(request);
    return route === '/return' ? this.finish(request) : this.start(request, route.slice(1) as Mode);
  }

  async start(request: Request, mode: Mode): Promise<Response> {
    const user = mode === 'link' ? ((await this.#options.currentUser?.(request)) ?? undefined) : undefined;
    if (mode === 'link' && !user) return reply(404, { error: 'a key can only be added while a user is logged in' });
    const secret = toBase64Url(this.#randomBytes());
    const session = await this.#signpost.sessions.create({
      domain: this.#options.domain,
      mode,
      flow: 'page',
      browser_hash: toBase64Url(await sha256(secret)),
      metadata: { return_url: `${this.#site.origin}${this.#site.path}/return` },
      ...(user && { user }),
    });
    const page: unknown = session.page_url;
    if (!isWebAddress(page)) throw new SignpostError('invalid_response', 'the service returned no login page');
    const [next, ...others] = new URL(request.url).searchParams.getAll('next');
    const state = { secret, mode, next: readNext(others.length > 0 ? '/' : next), user };
    const cookies = [await this.#stateCookie(session.id, state), ...this.#oldStates(request)];
    return reply(303, undefined, { location: toLocation(page) }, cookies);
  }

  async finish(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams;
    const id = onlyOne(query, 'session_id');
    if (!id) return this.#fail('refused');
    const name = await cookieFor('signpost', id);
    const values = readCookies(request).flatMap(([given, value]) => (given === this.#site.cookieName(name) ? [value] : []));
    const done = values.length === 0 ? [] : [this.#site.setCookie(name, '', 0)];
    if (query.has('error')) {
      // Any browser may see an error, because it logs in no user.
      const error = onlyOne(query, 'error');
      return this.#fail(error === 'access_denied' || error === 'expired' ? error : 'refused', done);
    }
    const state = await this.#findState(id, values);
    if (!state) return this.#fail('other_browser', done);
    const code = onlyOne(query, 'code');
    if (!code) return this.#fail('refused', done);
    // A link adds a key to an account. It must not log in a browser whose user has logged out since.
    if (state.mode === 'link' && (await this.#options.currentUser?.(request)) !== state.user) return this.#fail('refused', done);
    const session = await this.#complete(id, { code, browser_secret: state.secret });
    if (typeof session === 'string') return this.#fail(session, done);
    const user: unknown = session.user?.id;
    if (session.id !== id || session.status !== 'authenticated' || typeof user !== 'string' || user === '') return this.#fail('refused', done);
    const mode = session.mode ?? state.mode;
    if ((mode === 'link') !== (state.mode === 'link') || (mode === 'link' && user !== state.user)) return this.#fail('refused', done);
    const login = { user, session, mode, next: state.next };
    const cookies = cookiesOf(await this.#options.signIn(login, request));
    return reply(303, undefined, { location: toLocation(state.next) }, [...done, ...cookies]);
  }

  /** Completes a session, or returns the reason for its rejection. */
  async #complete(id: string, completion: { code: string; browser_secret: string }): Promise<Session | string> {
    try {
      return await this.#signpost.sessions.complete(id, completion);
    } catch (error) {
      const { status = 0, code = '', details = {} } = error instanceof SignpostError ? error : {};
      if (code === 'session_expired') return 'expired';
      if (status === 406 && details['reason'] === 'browser') return 'other_browser';
      if ([404, 406, 409, 410].includes(status)) return 'refused';
      throw error;
    }
  }

  #fail(reason: string, cookies: readonly string[] = []): Response {
    const sign = this.#failedPath.includes('?') ? '&' : '?';
    return reply(303, undefined, { location: toLocation(`${this.#failedPath}${sign}login_error=${reason}`) }, cookies);
  }

  async #stateCookie(id: string, { secret, mode, next, user }: State): Promise<string> {
    const expires = Math.floor(this.#now() / 1000) + STATE_SECONDS;
    const parts = [secret, expires, mode, toBase64Url(utf8(next)), ...(user === undefined ? [] : [toBase64Url(utf8(user))])];
    const text = `v1.${parts.join('.')}`;
    const mac = toBase64Url(await hmac(this.#key, signedState(id, text)));
    return this.#site.setCookie(await cookieFor('signpost', id), `${text}.${mac}`, STATE_SECONDS);
  }

  /** Returns the first valid state of several cookies with this name, because another site of the domain may set a duplicate. */
  async #findState(id: string, values: string[]): Promise<State | undefined> {
    const states = await Promise.all(values.map((value) => this.#readState(id, value)));
    return states.find((state) => state !== undefined);
  }

  async #readState(id: string, value: string): Promise<State | undefined> {
    const dot = value.lastIndexOf('.');
    const [text, mac] = [value.slice(0, Math.max(0, dot)), fromBase64Url(value.slice(dot + 1))];
    if (!mac || !(await isHmac(mac, this.#key, signedState(id, text)))) return undefined;
    const [, secret = '', expires = '', mode = '', next = '', user = ''] = text.split('.');
    if (!(Number(expires) > Math.floor(this.#now() / 1000))) return undefined;
    if ((mode === 'link') !== (user !== '')) return undefined;
    const read = (part: string) => new TextDecoder().decode(fromBase64Url(part));
    return { secret, mode: mode as Mode, next: readNext(read(next)), user: mode === 'link' ? read(user) : undefined };
  }

  /** Deletes all but the newest states, to limit the size of the `Cookie` header. */
  #oldStates(request: Request): string[] {
    const prefix = this.#site.cookieName('signpost-');
    const states = readCookies(request).filter(([name]) => name.startsWith(prefix) && /^[0-9a-f]{16}$/.test(name.slice(prefix.length)));
    const expires = ([, value]: [string, string]) => Number(/^v1\.[^.]*\.(\d{1,12})\./.exec(value)?.[1] ?? 0);
    const kept = [...states].sort((a, b) => expires(b) - expires(a)).slice(0, MAX_STATES - 1);
    const old = states.filter((state) => !kept.includes(state));
    return old.map(([name]) => this.#site.setCookie(name.replace('__Host-', ''), '', 0));
  }
}

/** Returns the value of a parameter that is present once and not empty. */
function onlyOne(query: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  return others.length === 0 && value !== '' ? value : undefined;
}

/** Returns whether the text is an http or https URL that a browser may be redirected to. */
function isWebAddress(text: unknown): text is string {
  return typeof text === 'string' && /^https?:\/\/[^\u0000-\u0020\u007f-\u009f]+$/i.test(text) && URL.canParse(text);
}

const signedState = (id: string, text: string) => utf8(`signpost-state:${id}:${text}`);
