import { Atms } from './atms.js';
import { SignpostError, invalidArgument } from './error.js';
import { Transport, type SignpostOptions } from './transport.js';
import type * as t from './wire.js';
import { webhooks } from './webhooks.js';

/**
 * The API of a Signpost server for one API key. It keeps no connection and no state: one for the whole program.
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
  readonly deliveries: Deliveries;
  readonly atms: Atms;
  readonly webhooks: typeof webhooks = webhooks;
  readonly #api: Transport;
  readonly #key: string;
  readonly #options: SignpostOptions;

  /** Throws `invalid_argument` for an option that cannot be, and for a key that is missing; it does not judge the key's form. */
  constructor(apiKey: string | undefined, options: SignpostOptions = {}) {
    if (typeof apiKey !== 'string') throw invalidArgument('the API key is missing: is the variable set that it is read from?');
    const api = new Transport(apiKey, options);
    this.#key = apiKey;
    this.#options = options;
    this.#api = api;
    this.sessions = new Sessions(api);
    this.domains = new Domains(api);
    this.users = new Users(api);
    this.deliveries = new Deliveries(api);
    this.atms = new Atms(api);
  }

  /** Checks a signature without a session. Well-formed but wrong is `valid: false`, malformed an error. */
  async verify(signed: t.Signed): Promise<t.Verification> {
    return this.#api.write('POST', '/verify', signed);
  }

  /** The same server and key with other options. */
  with(options: SignpostOptions): Signpost {
    return new Signpost(this.#key, { ...this.#options, ...options });
  }
}

/** Login attempts: one challenge each, answered at most once. */
export class Sessions {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** Opens a session. It is sent again under the same `Idempotency-Key`, so that a lost reply opens no second one. */
  async create(session: t.NewSession, options: { idempotencyKey?: string | undefined } = {}): Promise<t.CreatedSession> {
    const headers = { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() };
    return this.#api.write('POST', '/sessions', session, headers);
  }

  /** A page of the account's sessions, newest first. */
  async list(query: t.Page & { status?: t.SessionStatus; domain?: string } = {}): Promise<t.SessionList> {
    return this.#api.read('/sessions', query);
  }

  /** All of the account's sessions, page by page. */
  all(query: { status?: t.SessionStatus; domain?: string } = {}): AsyncGenerator<t.ListedSession, void, undefined> {
    return everything((page) => this.list({ ...query, ...page }), (list) => list.sessions);
  }

  /** A session. With `wait` (0 to 25 seconds) the reply comes as soon as it is no longer pending. */
  async get(id: string, query: { wait?: number } = {}): Promise<t.Session> {
    return this.#api.read(at`/sessions/${id}`, query, { patience: query.wait });
  }

  /**
   * Waits until a session is no longer pending, for at most `timeout` seconds (default: 300). Gives the session as it is
   * then; one that expired or was cancelled has that `status` and its `id` alone. An aborted `signal` ends the waiting with its reason.
   */
  async wait(id: string, { timeout = 300, signal }: { timeout?: number | undefined; signal?: AbortSignal | undefined } = {}): Promise<t.Session> {
    if (!(timeout >= 0 && timeout <= 86_400)) throw invalidArgument('timeout is a number of seconds from 0 to 86400');
    const { now, pause } = this.#api.clock;
    const end = now() + timeout * 1000;
    for (;;) {
      const asked = now();
      const wait = Math.max(0, Math.min(25, Math.ceil((end - asked) / 1000)));
      const session = await this.#api.read<t.Session>(at`/sessions/${id}`, { wait }, { patience: wait, signal }).catch((error) => gone(id, error));
      if (session.status !== 'pending' || now() >= end) return session;
      // Something between does not wait: the next question comes a second later.
      if (now() - asked < 1000) await pause(1);
    }
  }

  /** Gives a pending session, or one that expired within 15 minutes, a new challenge; the old one is dead. */
  async refresh(id: string): Promise<t.RefreshedSession> {
    return this.#api.write('POST', at`/sessions/${id}/refresh`);
  }

  /**
   * Completes a login that came back with a code, on a page or on the same device. Works once, so it is not sent again where the
   * connection was lost: the person begins anew.
   */
  async complete(id: string, completion: t.Completion): Promise<t.Session> {
    return this.#api.writeOnce('POST', at`/sessions/${id}/complete`, completion);
  }

  /** Passes a wallet's answer on, for sites that wallets post to. Of racing answers one wins. */
  async authenticate(id: string, answer: t.Answer): Promise<t.Session> {
    return this.#api.writeOnce('POST', at`/sessions/${id}/authenticate`, answer);
  }

  /** Cancels a pending session. */
  async cancel(id: string): Promise<void> {
    return this.#api.remove(at`/sessions/${id}`);
  }

  /** Plays the wallet, in the sandbox alone. */
  async simulate(id: string, how: t.Simulated = {}): Promise<t.Simulation> {
    return this.#api.writeOnce('POST', at`/sessions/${id}/simulate`, how);
  }

  /** The QR code of a pending session as SVG. */
  async qrSvg(id: string): Promise<string> {
    const headers = { accept: 'image/svg+xml, application/json' };
    return this.#api.send({ method: 'GET', path: at`/sessions/${id}/qr.svg`, headers, repeatable: true, reply: 'svg' });
  }
}

/** The host names that people log in to. */
export class Domains {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** Registers a domain. Only this reply has its `webhook_secret`. */
  async create(domain: t.NewDomain): Promise<t.RegisteredDomain> {
    return this.#api.writeOnce('POST', '/domains', domain);
  }

  /** All domains, oldest first, or a page of them if `limit` or `cursor` is given. */
  async list(query: t.Page = {}): Promise<t.DomainList> {
    return this.#api.read('/domains', query);
  }

  /** All domains, page by page. */
  all(): AsyncGenerator<t.ListedDomain, void, undefined> {
    return everything((page) => this.list(page), (list) => list.domains);
  }

  async get(id: string): Promise<t.Domain> {
    return this.#api.read(at`/domains/${id}`);
  }

  async update(id: string, change: t.DomainChange): Promise<t.Domain> {
    return this.#api.write('PATCH', at`/domains/${id}`, change);
  }

  /** Looks for the proof of the domain; `domain_verification_failed` says where it looked. */
  async verify(id: string): Promise<t.ProvedDomain> {
    return this.#api.write('POST', at`/domains/${id}/verify`);
  }

  /** Deletes a domain with its users; its pending sessions are cancelled. */
  async delete(id: string): Promise<void> {
    return this.#api.remove(at`/domains/${id}`);
  }

  /** Sends an event that means nothing. */
  async sendTestEvent(id: string): Promise<t.Delivery> {
    return this.#api.writeOnce('POST', at`/domains/${id}/test-event`);
  }
}

/** The users of hosted domains. A user is named by ID or by one of the user's public keys. */
export class Users {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** A page of users, oldest first. */
  async list(domainId: string, query: t.Page = {}): Promise<t.UserList> {
    return this.#api.read(at`/domains/${domainId}/users`, query);
  }

  /** All users, page by page. */
  all(domainId: string): AsyncGenerator<t.HostedUser, void, undefined> {
    return everything((page) => this.list(domainId, page), (list) => list.users);
  }

  async get(domainId: string, user: string): Promise<t.HostedUser> {
    return this.#api.read(at`/domains/${domainId}/users/${user}`);
  }

  async update(domainId: string, user: string, change: t.UserChange): Promise<t.HostedUser> {
    return this.#api.write('PATCH', at`/domains/${domainId}/users/${user}`, change);
  }

  /** Deletes a user with all credentials. */
  async delete(domainId: string, user: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users/${user}`);
  }

  async deleteAll(domainId: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users`);
  }

  /** Deletes one of a user's keys; `last_credential` if it is the only one. */
  async deleteCredential(domainId: string, user: string, credential: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/users/${user}/credentials/${credential}`);
  }
}

/** Events that were sent, or wait to be. */
export class Deliveries {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** A page of deliveries, newest first. */
  async list(query: t.Page & { state?: t.DeliveryState } = {}): Promise<t.DeliveryList> {
    return this.#api.read('/deliveries', query);
  }

  /** All deliveries, page by page. */
  all(query: { state?: t.DeliveryState } = {}): AsyncGenerator<t.Delivery, void, undefined> {
    return everything((page) => this.list({ ...query, ...page }), (list) => list.deliveries);
  }

  /** A delivery with the body that is sent. */
  async get(id: string): Promise<t.Delivery> {
    return this.#api.read(at`/deliveries/${id}`);
  }

  /** Sends it again as soon as possible, whatever its state. */
  async retry(id: string): Promise<t.Delivery> {
    return this.#api.writeOnce('POST', at`/deliveries/${id}/retry`);
  }

  /** Sends all failed ones of the account again. */
  async retryAll(): Promise<t.Retried> {
    return this.#api.writeOnce('POST', '/deliveries/retry');
  }
}

/** What `wait` gives for a session that is gone. */
function gone(id: string, error: unknown): t.Session {
  const code = error instanceof SignpostError ? error.code : '';
  if (code === 'session_expired') return { id, status: 'expired' };
  if (code === 'session_cancelled') return { id, status: 'cancelled' };
  throw error;
}

/** A path whose parts are one segment each, whatever they are. */
function at(parts: TemplateStringsArray, ...ids: string[]): string {
  if (ids.some((id) => typeof id !== 'string' || /^\.{0,2}$/.test(id))) throw invalidArgument('an ID is missing, or is no ID');
  // Half of a surrogate pair has no bytes.
  if (ids.some((id) => /\p{Surrogate}/u.test(id))) throw invalidArgument('an ID has characters that no address can have');
  return String.raw({ raw: parts.raw }, ...ids.map(encodeURIComponent));
}

async function* everything<L extends { next_cursor?: string }, T>(
  list: (page: t.Page) => Promise<L>,
  items: (list: L) => T[],
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await list({ limit: 100, ...(cursor !== undefined && { cursor }) });
    yield* items(page);
    const next = page.next_cursor ?? undefined;
    if (next !== undefined && next === cursor) throw new SignpostError('invalid_response', 'the service gave the same page twice');
    cursor = next;
  } while (cursor !== undefined);
}
