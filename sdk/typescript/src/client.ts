import { Atms } from './atms.js';
import { Clients } from './clients.js';
import { SignpostError, checkOptions, invalidArgument } from './error.js';
import { at, everything } from './paging.js';
import { Transport, type SignpostOptions } from './transport.js';
import type * as t from './wire.js';
import { webhooks } from './webhooks.js';

/**
 * A client of the API of a Signpost server, for one API key. It has no connections and no state: create a single client per program.
 *
 * ```ts
 * const signpost = new Signpost(process.env.SIGNPOST_KEY, { baseUrl: 'https://login.example.com/v1' });
 * const session = await signpost.sessions.create({ domain: 'shop.example' });
 * ```
 */
export class Signpost {
  readonly sessions: Sessions;
  readonly domains: Domains;
  readonly users: Users;
  readonly clients: Clients;
  readonly deliveries: Deliveries;
  readonly atms: Atms;
  readonly webhooks: typeof webhooks = webhooks;
  /** The base URL of the service, without a slash at its end. */
  readonly baseUrl: string;
  readonly #api: Transport;
  readonly #key: string;
  readonly #options: SignpostOptions;

  /** Throws `invalid_argument` for an invalid option or a missing key. The format of the key is not checked. */
  constructor(apiKey: string | undefined, options: SignpostOptions = {}) {
    if (typeof apiKey !== 'string') throw invalidArgument('the API key is missing: is the variable set that it is read from?');
    const api = new Transport(apiKey, options);
    this.#key = apiKey;
    this.#options = options;
    this.#api = api;
    this.baseUrl = api.baseUrl;
    this.sessions = new Sessions(api);
    this.domains = new Domains(api);
    this.users = new Users(api);
    this.clients = new Clients(api);
    this.deliveries = new Deliveries(api);
    this.atms = new Atms(api, options);
  }

  /** Checks a signature without a session. A wrong signature returns `valid: false`, a malformed signature is an error. */
  async verify(signed: t.Signed): Promise<t.Verification> {
    return this.#api.write('POST', '/verify', signed);
  }

  /** Returns a client with other options for this server and key. */
  with(options: SignpostOptions): Signpost {
    return new Signpost(this.#key, { ...this.#options, ...options });
  }
}

/** Login attempts: each has a challenge, which is answered at most once. */
export class Sessions {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** Creates a session. Retries share an `Idempotency-Key`, so that a lost reply creates no second session. */
  async create(session: t.NewSession, options: { idempotencyKey?: string | undefined } = {}): Promise<t.CreatedSession> {
    checkOptions(options, { idempotencyKey: true }, 'sessions.create');
    const headers = { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() };
    return this.#api.write('POST', '/sessions', session, headers);
  }

  /** Returns a page of the account's sessions, newest first. */
  async list(query: t.Page & { status?: t.SessionStatus; domain?: string } = {}): Promise<t.SessionList> {
    return this.#api.read('/sessions', query);
  }

  /** Returns all of the account's sessions, page by page. */
  all(query: { status?: t.SessionStatus; domain?: string } = {}): AsyncGenerator<t.ListedSession, void, undefined> {
    return everything((page) => this.list({ ...query, ...page }), (list) => list.sessions);
  }

  /** Returns a session. With `wait` (0 to 25 seconds), replies as soon as it is no longer pending. */
  async get(id: string, query: { wait?: number } = {}): Promise<t.Session> {
    return this.#api.read(at`/sessions/${id}`, query, { patience: query.wait });
  }

  /**
   * Waits up to `timeout` seconds (default: 300) until a session is no longer pending, and returns its last state. A session
   * that expired or was cancelled has only its `status` and `id`. If `signal` is aborted, rejects with the signal's reason.
   */
  async wait(id: string, options: { timeout?: number | undefined; signal?: AbortSignal | undefined } = {}): Promise<t.Session> {
    checkOptions(options, { timeout: true, signal: true }, 'sessions.wait');
    const { timeout = 300, signal } = options;
    if (!(timeout >= 0 && timeout <= 86_400)) throw invalidArgument('timeout is a number of seconds from 0 to 86400');
    const { now, pause } = this.#api.clock;
    const end = now() + timeout * 1000;
    for (;;) {
      const asked = now();
      const wait = Math.max(0, Math.min(25, Math.ceil((end - asked) / 1000)));
      const session = await this.#api.read<t.Session>(at`/sessions/${id}`, { wait }, { patience: wait, signal }).catch((error) => gone(id, error));
      if (session.status !== 'pending' || now() >= end) return session;
      // A proxy on the way may reply early: the next request is sent a second later.
      if (now() - asked < 1000) await pause(1);
    }
  }

  /** Replaces the challenge of a session that is pending or expired up to 15 minutes ago. The old challenge is invalid. */
  async refresh(id: string): Promise<t.RefreshedSession> {
    return this.#api.write('POST', at`/sessions/${id}/refresh`);
  }

  /**
   * Completes a login of the page or the same-device flow with its completion code. The code works once, so the call is not
   * retried after a lost connection: the user starts again.
   */
  async complete(id: string, completion: t.Completion): Promise<t.Session> {
    return this.#api.writeOnce('POST', at`/sessions/${id}/complete`, completion);
  }

  /** Forwards a wallet's answer, for sites that receive them. If answers race, only the first is accepted. */
  async authenticate(id: string, answer: t.Answer): Promise<t.Session> {
    return this.#api.writeOnce('POST', at`/sessions/${id}/authenticate`, answer);
  }

  /** Cancels a pending session. */
  async cancel(id: string): Promise<void> {
    return this.#api.remove(at`/sessions/${id}`);
  }

  /** Simulates a wallet; sandbox only. */
  async simulate(id: string, how: t.Simulated = {}): Promise<t.Simulation> {
    return this.#api.writeOnce('POST', at`/sessions/${id}/simulate`, how);
  }

  /** Returns the QR code of a pending session as SVG. */
  async qrSvg(id: string): Promise<string> {
    const headers = { accept: 'image/svg+xml, application/json' };
    return this.#api.send({ method: 'GET', path: at`/sessions/${id}/qr.svg`, headers, repeatable: true, reply: 'svg' });
  }

  /** Returns the QR code of a pending session as PNG. */
  async qrPng(id: string): Promise<Uint8Array> {
    const headers = { accept: 'image/png, application/json' };
    return this.#api.send({ method: 'GET', path: at`/sessions/${id}/qr.png`, headers, repeatable: true, reply: 'png' });
  }

  /**
   * Yields the state of a session, and each later state until it is final, from a stream. Unlike `wait`, it is not resumed
   * after a lost connection.
   */
  follow(id: string, { signal }: { signal?: AbortSignal | undefined } = {}): AsyncGenerator<t.Session, void, undefined> {
    return this.#api.stream(at`/sessions/${id}/events`, signal);
  }
}

/** The registered domains. */
export class Domains {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** Registers a domain. Only this reply contains `webhook_secret`. */
  async create(domain: t.NewDomain): Promise<t.RegisteredDomain> {
    return this.#api.writeOnce('POST', '/domains', domain);
  }

  /** Returns all domains, oldest first, or a page if `limit` or `cursor` is given. */
  async list(query: t.Page = {}): Promise<t.DomainList> {
    return this.#api.read('/domains', query);
  }

  /** Returns all domains, page by page. */
  all(): AsyncGenerator<t.ListedDomain, void, undefined> {
    return everything((page) => this.list(page), (list) => list.domains);
  }

  async get(id: string): Promise<t.Domain> {
    return this.#api.read(at`/domains/${id}`);
  }

  async update(id: string, change: t.DomainChange): Promise<t.Domain> {
    return this.#api.write('PATCH', at`/domains/${id}`, change);
  }

  /** Checks the domain's proof of ownership. The error `domain_verification_failed` lists the checked places. */
  async verify(id: string): Promise<t.ProvedDomain> {
    return this.#api.write('POST', at`/domains/${id}/verify`);
  }

  /** Deletes a domain with its users; its pending sessions are cancelled. */
  async delete(id: string): Promise<void> {
    return this.#api.remove(at`/domains/${id}`);
  }

  /** Sends a `test` event. */
  async sendTestEvent(id: string): Promise<t.Delivery> {
    return this.#api.writeOnce('POST', at`/domains/${id}/test-event`);
  }
}

/** The users of hosted domains. A user is identified by ID or by any of the user's public keys. */
export class Users {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** Creates a user without keys. Retries share an `Idempotency-Key`, so that a lost reply creates no second user. */
  async create(domainId: string, user: t.NewUser, options: { idempotencyKey?: string | undefined } = {}): Promise<t.HostedUser> {
    checkOptions(options, { idempotencyKey: true }, 'users.create');
    const headers = { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() };
    return this.#api.write('POST', at`/domains/${domainId}/users`, user, headers);
  }

  /** Returns a page of users, oldest first. With `q`, a page may be empty although there is a next page. */
  async list(domainId: string, query: t.UserSearch & t.Page = {}): Promise<t.UserList> {
    return this.#api.read(at`/domains/${domainId}/users`, query);
  }

  /** Returns all users, page by page. */
  all(domainId: string, search: t.UserSearch = {}): AsyncGenerator<t.HostedUser, void, undefined> {
    return everything((page) => this.list(domainId, { ...search, ...page }), (list) => list.users);
  }

  async get(domainId: string, user: string): Promise<t.HostedUser> {
    return this.#api.read(at`/domains/${domainId}/users/${user}`);
  }

  async update(domainId: string, user: string, change: t.UserChange): Promise<t.HostedUser> {
    return this.#api.write('PATCH', at`/domains/${domainId}/users/${user}`, change);
  }

  /** Deletes a user and all of its credentials. */
  async delete(domainId: string, user: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users/${user}`);
  }

  async deleteAll(domainId: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users`);
  }

  /** Deletes a credential of a user. Fails with `last_credential` for the last credential. */
  async deleteCredential(domainId: string, user: string, credential: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users/${user}/credentials/${credential}`);
  }

  /** Returns a page of the browsers and applications where the user is signed in. */
  async signIns(domainId: string, user: string, query: t.Page = {}): Promise<t.SignInList> {
    return this.#api.read(at`/domains/${domainId}/users/${user}/sign-ins`, query);
  }

  /** Ends a sign-in. */
  async endSignIn(domainId: string, user: string, signIn: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users/${user}/sign-ins/${signIn}`);
  }

  /** Ends all sign-ins of the user. */
  async endSignIns(domainId: string, user: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users/${user}/sign-ins`);
  }
}

/** Event deliveries. */
export class Deliveries {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** Returns a page of deliveries, newest first. */
  async list(query: t.Page & { state?: t.DeliveryState } = {}): Promise<t.DeliveryList> {
    return this.#api.read('/deliveries', query);
  }

  /** Returns all deliveries, page by page. */
  all(query: { state?: t.DeliveryState } = {}): AsyncGenerator<t.Delivery, void, undefined> {
    return everything((page) => this.list({ ...query, ...page }), (list) => list.deliveries);
  }

  /** Returns a delivery with its body. */
  async get(id: string): Promise<t.Delivery> {
    return this.#api.read(at`/deliveries/${id}`);
  }

  /** Retries a delivery as soon as possible, in any state. */
  async retry(id: string): Promise<t.Delivery> {
    return this.#api.writeOnce('POST', at`/deliveries/${id}/retry`);
  }

  /** Retries all failed deliveries of the account. */
  async retryAll(): Promise<t.Retried> {
    return this.#api.writeOnce('POST', '/deliveries/retry');
  }
}

/** Returns the result of `wait` for a session that expired or was cancelled. */
function gone(id: string, error: unknown): t.Session {
  const code = error instanceof SignpostError ? error.code : '';
  if (code === 'session_expired') return { id, status: 'expired' };
  if (code === 'session_cancelled') return { id, status: 'cancelled' };
  throw error;
}
