import { sha256, toBase64Url } from './bytes.js';
import type { Signpost } from './client.js';
import { SignpostError, checkOptions, invalidArgument } from './error.js';
import { EventEndpoint, type EventOptions, type HandlerStep } from './events.js';
import { HostCheck, ignorePrefetch, isPrefetch, nextOf } from './navigation.js';
import { Site, cookiesOf, encodeQuery, isLocalPath, readCookies, reply, toLocation, type SetCookies } from './site.js';
import { checkSettings } from './startup.js';
import { StateCookies, type State, type StateMode } from './state.js';
import type { LoginMethod, Mode, Session, SessionUser } from './wire.js';

export type { EventOptions, HandlerStep, SeenEvents } from './events.js';
export { isLocalPath, siteCookie, type SetCookies, type SiteCookie } from './site.js';

/** Maximum time that a browser waits for a retry, in seconds. */
const LONGEST_WAIT = 3;
/** Time in which a second fault of the service is a 503 instead of a redirect, in seconds. */
const UNAVAILABLE_SECONDS = 10;
const ROUTES = ['/login', '/register', '/link', '/return', '/logout', '/events'];

/** The reason for a failed login, in the parameter `login_error` of `failedPath`. */
export type LoginError = 'access_denied' | 'expired' | 'other_browser' | 'refused' | 'unavailable';

/** The user of a completed login. Members that the service does not know are absent. */
export interface LoginUser {
  /** `usr_…`, which does not depend on the key that was used: the only member that identifies an account forever. */
  id: string;
  username?: string;
  name?: string;
  groups?: string[];
  /** The ID of the user in your own database, if you set it. */
  externalId?: string;
  metadata?: Record<string, unknown>;
  /** Whether this login created the user. */
  isNew?: boolean;
}

/** A completed login. */
export interface Login {
  user: LoginUser;
  /** The kind of proof: `scan`, `browser`, `lightning` or `passkey`; later versions may add others. */
  method: LoginMethod | undefined;
  /** `register` if the account is new. */
  mode: 'login' | 'register';
  /** The path to continue at. */
  next: string;
  /** The session, as the service returned it. */
  session: Session;
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
  /** Ends the site's login. With it, `<path>/logout` logs the browser out. Returns `Set-Cookie` values, if any. */
  signOut?: ((request: Request) => SetCookies | Promise<SetCookies>) | undefined;
  /**
   * Returns the ID (`usr_…`) of the logged-in user. With it, `<path>/link` adds another key to the user's account. It is
   * called again when the browser returns: a link completes only if its user is still logged in.
   */
  currentUser?: ((request: Request) => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /**
   * Returns whether the logged-in user proved a moment ago to be this user, such as by the password. It permits to add the
   * first key to an account without keys; without this function, that is refused.
   */
  confirmRecent?: ((request: Request) => boolean | Promise<boolean>) | undefined;
  /**
   * The target of the browser if the login failed, with `login_error` and `next` in the query. It needs no login, and is not
   * below `path`. Default: `/`.
   */
  failedPath?: string | undefined;
  /** Whether the key, the base URL and the domain are checked in the background, with faults in the log. Default: true. */
  startupCheck?: boolean | undefined;
  /** @internal */
  clock?: { now?: () => number; randomBytes?: () => Uint8Array<ArrayBuffer>; log?: (line: string) => void } | undefined;
}

const OPTIONS: Record<keyof LoginOptions, true> = {
  domain: true, site: true, path: true, cookieSecret: true, signIn: true, signOut: true, currentUser: true, confirmRecent: true,
  failedPath: true, startupCheck: true, webhookSecrets: true, onEvent: true, seenEvents: true, onError: true, clock: true,
};

/** Handlers of a site that uses the service's login page. */
export interface LoginHandlers {
  /** Responds to requests below `path`; undefined for all others. */
  handle(request: Request): Promise<Response | undefined>;
  /** Redirects a browser to the login page. */
  start(request: Request, mode?: Mode): Promise<Response>;
  /** Completes the login of a browser that returned. */
  finish(request: Request): Promise<Response>;
  /** Logs a browser out, cancels its pending logins and links, and redirects to `next`. */
  logout(request: Request): Promise<Response>;
  /** Returns the `Set-Cookie` values that cancel the browser's pending logins and links, for a logout of your own. */
  cancelPending(request: Request): string[];
  /** Receives the service's events. */
  events(request: Request): Promise<Response>;
}

/**
 * Creates the handlers: `GET <path>/login`, `/register`, `/link`, `/return` and `/logout`, and `POST <path>/events`. They
 * bind each login to its browser with a signed cookie; they need no database.
 */
export function loginHandlers(signpost: Signpost, options: LoginOptions): LoginHandlers {
  const flow = new LoginFlow(signpost, options);
  return {
    handle: (request) => flow.handle(request),
    start: (request, mode = 'login') => flow.respond(request, `/${mode}`),
    finish: (request) => flow.respond(request, '/return'),
    logout: (request) => flow.respond(request, '/logout'),
    cancelPending: (request) => flow.states.clear(request),
    events: (request) => flow.events.receive(request),
  };
}

/** A request of a browser, with the data for the response if it fails. */
interface Visit {
  readonly request: Request;
  readonly step: HandlerStep;
  /** The checked path to continue at. */
  next: string;
  /** `Set-Cookie` values that delete the state of this login. */
  cleared: string[];
}

class LoginFlow {
  readonly events: EventEndpoint;
  readonly states: StateCookies;
  readonly #signpost: Signpost;
  readonly #options: LoginOptions;
  readonly #site: Site;
  readonly #hosts: HostCheck;
  readonly #failedPath: string;
  readonly #randomBytes: () => Uint8Array<ArrayBuffer>;

  constructor(signpost: Signpost, options: LoginOptions) {
    checkOptions(options, OPTIONS, 'loginHandlers');
    const { cookieSecret, failedPath = '/', clock = {} } = options;
    if (typeof cookieSecret !== 'string' || [...cookieSecret].length < 32) {
      throw invalidArgument('cookieSecret needs 32 characters or more; create it with: openssl rand -hex 32');
    }
    if (!options.domain) throw invalidArgument('domain is missing: the hosted domain that people log in to');
    this.#site = new Site(options.site, options.path);
    checkFailedPath(failedPath, this.#site.path);
    const { now = Date.now, log = (line: string) => console.warn(line) } = clock;
    this.#randomBytes = clock.randomBytes ?? (() => crypto.getRandomValues(new Uint8Array(32)));
    this.states = new StateCookies(this.#site, cookieSecret, now);
    this.events = new EventEndpoint(options, now);
    this.#hosts = new HostCheck(this.#site, log);
    // The user is waiting.
    this.#signpost = signpost.with({ longestWait: LONGEST_WAIT });
    this.#options = options;
    this.#failedPath = failedPath;
    if (options.startupCheck ?? true) void checkSettings(signpost, options.domain, log);
  }

  async handle(request: Request): Promise<Response | undefined> {
    const route = this.#site.route(request) ?? '';
    if (!ROUTES.includes(route)) return undefined;
    const methods = route === '/events' ? ['POST'] : route === '/logout' ? ['GET', 'POST'] : ['GET'];
    if (!methods.includes(request.method)) return reply(405, { error: `this path requires ${methods.join(' or ')}` }, { allow: methods.join(', ') });
    if (route === '/events') return this.events.receive(request);
    const target = route === '/return' || route === '/logout' || isPrefetch(request) ? undefined : this.#hosts.redirect(request, route);
    return target === undefined ? this.respond(request, route) : reply(303, undefined, { location: target });
  }

  /** Responds to a request of a browser. An error of the service never sets the status of the page. */
  async respond(request: Request, route: string): Promise<Response> {
    const visit: Visit = { request, step: stepOf(route), next: '/', cleared: [] };
    if (route !== '/return' && request.method === 'GET' && isPrefetch(request)) return ignorePrefetch();
    try {
      if (route === '/return') return await this.#finish(visit);
      visit.next = nextOf(request);
      if (route === '/logout') return await this.#logout(visit);
      if (route === '/link') return await this.#link(visit);
      return await this.#open(visit, route === '/register' ? 'register' : 'login');
    } catch (error) {
      if (!(error instanceof SignpostError)) throw error;
      await this.events.report(error, visit.step);
      return this.#fail(visit, loginErrorOf(error));
    }
  }

  /** Creates a session and redirects the browser to its page. */
  async #open(visit: Visit, mode: StateMode, user?: string): Promise<Response> {
    const secret = toBase64Url(this.#randomBytes());
    const session = await this.#signpost.sessions.create({
      domain: this.#options.domain,
      mode: mode === 'confirm' ? 'login' : mode,
      flow: 'page',
      browser_hash: toBase64Url(await sha256(secret)),
      metadata: { return_url: `${this.#site.origin}${this.#site.path}/return` },
      ...(user !== undefined && { user }),
    });
    const page: unknown = session.page_url;
    if (!isWebAddress(page)) throw new SignpostError('invalid_response', 'the service returned no login page');
    const state = await this.states.set(session.id, { secret, mode, next: visit.next, user });
    const old = this.states.clearOld(visit.request).filter((cookie) => !visit.cleared.includes(cookie));
    return reply(303, undefined, { location: toLocation(page) }, [state, ...visit.cleared, ...old]);
  }

  /** Starts to add a key to the account of the logged-in user. */
  async #link(visit: Visit): Promise<Response> {
    const { currentUser, confirmRecent } = this.#options;
    if (!currentUser) return reply(404, { error: 'keys cannot be added here: the site has no function currentUser' });
    const user = await currentUser.call(this.#options, visit.request);
    if (!user) return this.#logInBeforeLink(visit);
    const isConfirmed = (await this.#hasCredential(user)) || (await confirmRecent?.call(this.#options, visit.request)) === true;
    if (!isConfirmed) return this.#fail(visit, 'refused');
    try {
      return await this.#open(visit, 'link', user);
    } catch (error) {
      if (!(error instanceof SignpostError && error.code === 'recent_login_required')) throw error;
      return this.#open(visit, 'confirm', user);
    }
  }

  /** Redirects to the login, which continues at the link. */
  #logInBeforeLink({ next }: Visit): Response {
    const { path } = this.#site;
    const link = `${path}/link${next === '/' ? '' : `?next=${encodeQuery(next)}`}`;
    return reply(303, undefined, { location: `${path}/login?next=${encodeQuery(link)}` });
  }

  /** Returns whether the user has a key, so that the service itself requires a recent login. */
  async #hasCredential(user: string): Promise<boolean> {
    try {
      return (await this.#signpost.users.get(this.#options.domain, user)).credentials.length > 0;
    } catch (error) {
      // Earlier versions of the service find a domain only by its ID; they have no users without keys.
      if (error instanceof SignpostError && error.status === 404 && error.code !== 'user_not_found') return true;
      throw error;
    }
  }

  async #finish(visit: Visit): Promise<Response> {
    const query = new URL(visit.request.url).searchParams;
    const id = onlyOne(query, 'session_id');
    if (!id) return this.#fail(visit, 'refused');
    const { state, cleared } = await this.states.take(visit.request, id);
    visit.cleared = cleared;
    visit.next = state?.next ?? '/';
    if (query.has('error')) {
      // Any browser may see an error, because it logs in no user.
      const error = onlyOne(query, 'error');
      return this.#fail(visit, error === 'access_denied' || error === 'expired' ? error : 'refused');
    }
    if (!state) return this.#fail(visit, 'other_browser');
    const code = onlyOne(query, 'code');
    if (!code) return this.#fail(visit, 'refused');
    // A link, and the login before it, must not affect a browser whose user has logged out since.
    if (state.user !== undefined && (await this.#options.currentUser?.(visit.request)) !== state.user) return this.#fail(visit, 'refused');
    const session = await this.#signpost.sessions.complete(id, { code, browser_secret: state.secret });
    if (!hasCompleted(session, id, state)) return this.#fail(visit, 'refused');
    if (state.mode === 'confirm') return this.#open(visit, 'link', state.user);
    if (state.mode === 'link') return reply(303, undefined, { location: toLocation(state.next) }, cleared);
    const cookies = cookiesOf(await this.#options.signIn(loginOf(session, state), visit.request));
    return reply(303, undefined, { location: toLocation(state.next) }, [...cleared, ...cookies]);
  }

  async #logout({ request, next }: Visit): Promise<Response> {
    const { signOut } = this.#options;
    if (!signOut) return reply(404, { error: 'there is no logout here: the site has no function signOut' });
    if (request.headers.get('sec-fetch-site') === 'cross-site') return reply(403, { error: 'another site cannot log users out' });
    const cookies = cookiesOf(await signOut.call(this.#options, request));
    return reply(303, undefined, { location: toLocation(next) }, [...this.states.clear(request), ...cookies]);
  }

  /** Redirects to `failedPath`. A page that starts a login again would loop during an outage: the second fault is a 503. */
  #fail({ request, next, cleared }: Visit, reason: LoginError): Response {
    const marker = 'signpost-unavailable';
    if (reason === 'unavailable' && readCookies(request).some(([name]) => name === this.#site.cookieName(marker))) {
      const headers = { 'retry-after': String(UNAVAILABLE_SECONDS) };
      return reply(503, 'The login is not available at the moment. Try again in a few seconds.\n', headers, cleared);
    }
    const separator = this.#failedPath.includes('?') ? '&' : '?';
    const location = `${this.#failedPath}${separator}login_error=${reason}${next === '/' ? '' : `&next=${encodeQuery(next)}`}`;
    const cookies = reason === 'unavailable' ? [this.#site.setCookie(marker, '1', UNAVAILABLE_SECONDS)] : [];
    return reply(303, undefined, { location: toLocation(location) }, [...cleared, ...cookies]);
  }
}

function stepOf(route: string): HandlerStep {
  return route === '/link' || route === '/return' || route === '/logout' ? (route.slice(1) as HandlerStep) : 'start';
}

/** Throws `invalid_argument` unless the path is a page of the site that starts no login. */
function checkFailedPath(failedPath: string, path: string): void {
  if (!isLocalPath(failedPath) || failedPath.includes('#')) {
    throw invalidArgument('failedPath is a path of the site without a fragment, such as /login');
  }
  const page = failedPath.replace(/\?.*/s, '');
  const isHandler = path === '' ? ROUTES.includes(page) : page === path || page.startsWith(`${path}/`);
  if (isHandler) throw invalidArgument(`failedPath must not be below ${path || '/'}, the option path, because a failed login would start the next`);
}

/** Returns the reason that the user is shown for an error of the service. */
function loginErrorOf({ code, status = 0, details }: SignpostError): LoginError {
  if (code === 'invalid_response') return 'unavailable';
  if (code === 'session_expired') return 'expired';
  if (status === 406 && details['reason'] === 'browser') return 'other_browser';
  if ([406, 409, 410].includes(status)) return 'refused';
  return ['session_not_found', 'user_not_found', 'recent_login_required'].includes(code) ? 'refused' : 'unavailable';
}

/** Returns whether the service completed the session of this state, for its user. */
function hasCompleted(session: Session, id: string, state: State): boolean {
  const user: unknown = session.user?.id;
  if (session.id !== id || session.status !== 'authenticated' || typeof user !== 'string' || user === '') return false;
  if (state.user !== undefined && user !== state.user) return false;
  if (state.mode === 'confirm') return (session.mode ?? 'login') === 'login';
  return ((session.mode ?? state.mode) === 'link') === (state.mode === 'link');
}

function loginOf(session: Session, state: State): Login {
  const { id = '', username, name, groups, external_id, metadata, is_new }: Partial<SessionUser> = session.user ?? {};
  const user: LoginUser = {
    id,
    ...(username != null && { username }),
    ...(name != null && { name }),
    ...(groups != null && { groups }),
    ...(external_id != null && { externalId: external_id }),
    ...(metadata != null && { metadata }),
    ...(is_new != null && { isNew: is_new }),
  };
  const mode = (session.mode ?? state.mode) === 'register' ? 'register' : 'login';
  return { user, method: session.method, mode, next: state.next, session };
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
