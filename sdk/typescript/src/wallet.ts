import { isSame, toBase64Url } from './bytes.js';
import type { Signpost } from './client.js';
import { SignpostError, checkOptions, invalidArgument } from './error.js';
import { EventEndpoint, type EventOptions } from './events.js';
import { Site, cookieFor, cookiesOf, readCookies, readNext, readRaw, reply, type SetCookies } from './site.js';
import { parseObject } from './transport.js';
import type { Answer, Device } from './wire.js';

export type { EventOptions, HandlerStep, SeenEvents } from './events.js';
export { isLocalPath, type SetCookies } from './site.js';

/** Maximum difference between a wallet's clock and the server's, in seconds. */
const CLOCK_TOLERANCE = 30;
/** Lifetime of a stored code, in seconds: five minutes, and more than fifteen in which it may be refreshed. */
const CODE_SECONDS = 1800;
const MAX_CODES = 10_000;
const DEVICE_LIMITS = { platform: 32, version: 64, device_id: 128 };

/** A key-value store with expiry in seconds, such as Redis with `GET`, `SET … EX` and `DEL`. */
export interface CodeStore {
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  set(key: string, value: string, seconds: number): unknown;
  /** Deletes a key and returns whether it existed. Only one of several concurrent calls returns true. */
  remove(key: string): boolean | Promise<boolean>;
}

/** A completed login. */
export interface WalletLogin<User> {
  user: User;
  /** The public key: compressed, lower-case hex. */
  publicKey: string;
  mode: 'login' | 'register';
  next: string;
  sessionId: string;
}

export interface WalletOptions<User> extends EventOptions {
  /** The domain that users log in to, with the handler `direct`. */
  domain: string;
  /** The site's public origin, such as `https://shop.example`. */
  site: string;
  /** The path of the handlers. Default: `/signpost`. */
  path?: string | undefined;
  /** Returns the user with this key (compressed, lower-case hex), if any. */
  findUser(publicKey: string): User | null | undefined | Promise<User | null | undefined>;
  /** Creates the user with this key; returns nothing if the key has a user in the meantime. An exception invalidates the code. */
  createUser(publicKey: string, device: Device): User | null | undefined | Promise<User | null | undefined>;
  /** Logs the browser in: sets the site's own cookie, with a new value. Returns `Set-Cookie` values, if any. */
  signIn(login: WalletLogin<User>, request: Request): SetCookies | Promise<SetCookies>;
  /** Default: the last 10,000 codes, in the memory of this process. */
  codes?: CodeStore | undefined;
  /** false: any browser with the `sid` can log in, as the specification defines it. Permits relayed codes. Default: true. */
  bindPoll?: boolean | undefined;
  /** @internal */
  clock?: { now?: () => number } | undefined;
}

const OPTIONS: Record<keyof WalletOptions<unknown>, true> = {
  domain: true, site: true, path: true, findUser: true, createUser: true, signIn: true, codes: true, bindPoll: true,
  webhookSecrets: true, onEvent: true, seenEvents: true, onError: true, clock: true,
};

/** A code for the login page. */
export interface Code {
  /** The session ID, for polls. */
  sid: string;
  /** The content of the QR code, and the link for a wallet on this device. */
  qr_data: string;
  expires_at: string;
}

export interface WalletHandlers {
  /** Responds to wallets, polls and events below `path`; undefined for all other requests. */
  handle(request: Request): Promise<Response | undefined>;
  /** Opens a session and returns its code for a page; `cookie` is a `Set-Cookie` value for the page's response. */
  showCode(about?: { mode?: 'login' | 'register'; next?: string | undefined }): Promise<Code & { cookie: string }>;
  /** Returns a new code for the page. Undefined if this request's browser was not shown the old code: respond with 404. */
  refreshCode(sid: string, request: Request): Promise<Code | undefined>;
}

/**
 * Creates the handlers of a site that receives wallets' answers itself: `POST <path>/wallet/login` and `/wallet/register`,
 * `GET <path>/poll?sid=`, and `POST <path>/events`. The service checks the signatures.
 */
export function walletHandlers<User>(signpost: Signpost, options: WalletOptions<User>): WalletHandlers {
  const flow = new WalletFlow(signpost, options);
  return {
    handle: (request) => flow.handle(request),
    showCode: ({ mode = 'login', next } = {}) => flow.showCode(mode, next),
    refreshCode: (sid, request) => flow.refreshCode(sid, request),
  };
}

/** The stored state of a shown code. */
interface ShownCode {
  mode: 'login' | 'register';
  next: string;
  binding: string;
  challenge: string;
  /** Milliseconds since 1970. */
  expires: number;
  /** The public key that answered. */
  key?: string;
}

/** A rejection of an answer, and its status. */
class Refusal {
  constructor(
    readonly status: number,
    readonly message: string,
    readonly headers: Record<string, string> = {},
  ) {}
}

const NOT_HELD = new Refusal(404, 'no session waits for an answer to this challenge: scan the code again');
const NOT_VERIFIED = new Refusal(406, 'the signature was not made by this key over this challenge');
const USER_UNKNOWN = new Refusal(404, 'no user has this public key: register first');
const USER_EXISTS = new Refusal(409, 'a user with this public key exists: log in instead');

class WalletFlow<User> {
  readonly #signpost: Signpost;
  readonly #options: WalletOptions<User>;
  readonly #site: Site;
  readonly #codes: CodeStore;
  readonly #events: EventEndpoint;
  readonly #now: () => number;

  constructor(signpost: Signpost, options: WalletOptions<User>) {
    checkOptions(options, OPTIONS, 'walletHandlers');
    if (!options.domain) throw invalidArgument('domain is missing: the one that people log in to');
    this.#site = new Site(options.site, options.path);
    this.#now = options.clock?.now ?? Date.now;
    this.#codes = options.codes ?? new CodesInMemory(this.#now);
    this.#events = new EventEndpoint(options, this.#now);
    // Rate limits are reported to the wallet at once.
    this.#signpost = signpost.with({ retries: 0 });
    this.#options = options;
  }

  async showCode(mode: 'login' | 'register', next: string | undefined): Promise<Code & { cookie: string }> {
    const webhook_url = `${this.#site.origin}${this.#site.path}/wallet/${mode}`;
    const { id, challenge, qr_data, expires_at } = await this.#signpost.sessions.create({ domain: this.#options.domain, mode, webhook_url });
    const binding = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    await this.#remember(id, { mode, next: readNext(next), binding, challenge, expires: Date.parse(expires_at) });
    const cookie = this.#site.setCookie(await cookieFor('code', id), binding, CODE_SECONDS);
    return { sid: id, qr_data, expires_at, cookie };
  }

  async refreshCode(sid: string, request: Request): Promise<Code | undefined> {
    const code = await this.#read(sid);
    if (!code || !(await this.#mayKnow(request, sid, code))) return undefined;
    const { challenge, qr_data, expires_at } = await this.#signpost.sessions.refresh(sid);
    await this.#codes.remove(`challenge:${code.challenge}`);
    await this.#remember(sid, { ...code, challenge, expires: Date.parse(expires_at) });
    return { sid, qr_data, expires_at };
  }

  async handle(request: Request): Promise<Response | undefined> {
    const route = this.#site.route(request) ?? '';
    const method = route === '/poll' ? 'GET' : 'POST';
    if (!/^\/(?:wallet\/login|wallet\/register|poll|events)$/.test(route)) return undefined;
    if (request.method !== method) return reply(405, { error: `this path requires ${method}` }, { allow: method });
    if (route === '/events') return this.#events.receive(request);
    try {
      return await (route === '/poll' ? this.#poll(request) : this.#post(request, route === '/wallet/register' ? 'register' : 'login'));
    } catch (error) {
      if (error instanceof Refusal) return reply(error.status, { error: error.message }, error.headers);
      if (error instanceof SignpostError && error.code === 'parsed_body') throw error;
      return this.#events.fail(error, 'wallet');
    }
  }

  /** Handles a post of a wallet, or of the service if the domain has no event URL. */
  async #post(request: Request, mode: 'login' | 'register'): Promise<Response> {
    const raw = await readRaw(request);
    if (!raw) throw new Refusal(413, 'the body is too long: at most 64 KiB are accepted');
    const body = parseObject(new TextDecoder().decode(raw));
    const isSigned = ['x-svc-signature', 'webhook-signature'].some((name) => request.headers.has(name));
    // An unsigned event is rejected.
    if (isSigned || (body?.['event'] ?? null) !== null) return this.#events.receive(request, raw);
    const answer = readAnswer(body);
    const domain = this.#options.domain;
    await this.#take(answer, mode);
    const done = mode === 'login' ? ['authenticated', `logged in to ${domain}`] : ['registered', `registered with ${domain}`];
    return reply(200, { status: done[0], message: done[1] });
  }

  /** Checks an answer in the specification's order, and stores its key. */
  async #take(answer: Answer, mode: 'login' | 'register'): Promise<void> {
    if (Math.abs(answer.timestamp - Math.floor(this.#now() / 1000)) > CLOCK_TOLERANCE) {
      throw new Refusal(408, "the timestamp is more than 30 seconds from this server's time: sign again, or set the device's clock");
    }
    const challenge = svcForm(answer.challenge);
    const sid = challenge && (await this.#codes.get(`challenge:${challenge}`));
    const code = sid ? await this.#read(sid) : undefined;
    if (!sid || !code || code.challenge !== challenge || code.mode !== mode || code.expires <= this.#now()) throw NOT_HELD;
    const key = compressedKey(answer.public_key);
    if (!key || !/^(?:[0-9a-f]{2}){8,72}$/i.test(answer.signature)) throw NOT_VERIFIED;
    const user = (await this.#options.findUser(key)) ?? undefined;
    // The signature is checked first: only the key's owner learns whether the user exists.
    if (mode === 'login' && user === undefined) throw await this.#verified(answer, USER_UNKNOWN);
    if (mode === 'register' && user !== undefined) throw await this.#verified(answer, USER_EXISTS);
    await this.#signpost.sessions.authenticate(sid, answer).catch((error) => refuse(error));
    const created = user ?? (await this.#options.createUser(key, answer.device_info ?? {})) ?? undefined;
    if (created === undefined) throw USER_EXISTS;
    await this.#codes.remove(`challenge:${challenge}`);
    await this.#codes.set(`code:${sid}`, JSON.stringify({ ...code, key }), CODE_SECONDS);
    await this.#codes.set(`login:${sid}`, '1', CODE_SECONDS);
  }

  async #verified({ public_key, signature, challenge }: Answer, refusal: Refusal): Promise<Refusal> {
    const { valid } = await this.#signpost.verify({ public_key, signature, message: challenge }).catch((error) => refuse(error));
    return valid ? refusal : NOT_VERIFIED;
  }

  async #poll(request: Request): Promise<Response> {
    const sid = new URL(request.url).searchParams.get('sid');
    if (!sid) throw new Refusal(400, 'the query parameter sid is missing: poll with ?sid=<session id>');
    const code = await this.#read(sid);
    if (!code) return reply(404, { status: 'not_found' });
    if (!code.key || !(await this.#mayKnow(request, sid, code))) return reply(200, { status: 'pending' });
    const cookies = (await this.#codes.remove(`login:${sid}`)) ? await this.#signIn(request, sid, code, code.key) : [];
    return reply(200, { status: 'authenticated', redirect: code.next }, {}, cookies);
  }

  async #signIn(request: Request, sid: string, { mode, next }: ShownCode, publicKey: string): Promise<readonly string[]> {
    try {
      const user = (await this.#options.findUser(publicKey)) ?? undefined;
      if (user === undefined) return [];
      return cookiesOf(await this.#options.signIn({ user, publicKey, mode, next, sessionId: sid }, request));
    } catch (error) {
      await this.#codes.set(`login:${sid}`, '1', CODE_SECONDS);
      throw error;
    }
  }

  /** Returns whether a request comes from the browser that was shown the code, and from a page of this site. */
  async #mayKnow(request: Request, sid: string, code: ShownCode): Promise<boolean> {
    if (this.#options.bindPoll === false) return true;
    const [origin, fetchSite] = ['origin', 'sec-fetch-site'].map((name) => request.headers.get(name));
    if (origin !== null && origin !== this.#site.origin) return false;
    if (fetchSite !== null && fetchSite !== 'same-origin' && fetchSite !== 'none') return false;
    const name = this.#site.cookieName(await cookieFor('code', sid));
    return readCookies(request).some(([given, value]) => given === name && isSame(value, code.binding));
  }

  async #remember(sid: string, code: ShownCode): Promise<void> {
    await this.#codes.set(`code:${sid}`, JSON.stringify(code), CODE_SECONDS);
    await this.#codes.set(`challenge:${code.challenge}`, sid, CODE_SECONDS);
  }

  async #read(sid: string): Promise<ShownCode | undefined> {
    const text = await this.#codes.get(`code:${sid}`);
    return text ? (JSON.parse(text) as ShownCode) : undefined;
  }
}

/** Maps an error of the service to the response for the wallet. */
function refuse(error: unknown): never {
  const { status = 0, code = '', retryAfter = 1 } = error instanceof SignpostError ? error : {};
  if (status === 429) throw new Refusal(429, `too many requests; try again in ${retryAfter} s`, { 'retry-after': String(retryAfter) });
  if (status === 406 || (status === 400 && ['invalid_signature', 'invalid_public_key'].includes(code))) throw NOT_VERIFIED;
  if ([404, 409, 410].includes(status)) throw NOT_HELD;
  if (status === 408) throw new Refusal(408, "the timestamp is more than 30 seconds from the service's time: sign again");
  throw error;
}

function readAnswer(body: Record<string, unknown> | undefined): Answer {
  const wrong = (what: string) => new Refusal(400, `${what}: public_key, signature and challenge are strings, timestamp is an integer of Unix seconds`);
  if (!body) throw wrong('the body is not a JSON object');
  const { public_key, signature, challenge, timestamp, device_info = null, confirm_code = null } = body;
  for (const [name, value] of Object.entries({ public_key, signature, challenge })) {
    if (typeof value !== 'string') throw wrong(`the field ${name} is missing or no text`);
  }
  if (!Number.isSafeInteger(timestamp)) throw wrong('the field timestamp is missing or no integer');
  if (confirm_code !== null && typeof confirm_code !== 'string') throw wrong('the field confirm_code is no text');
  if (typeof device_info !== 'object' || Array.isArray(device_info)) throw wrong('the field device_info is no object');
  for (const [name, limit] of Object.entries(DEVICE_LIMITS)) {
    const value = (device_info as Record<string, unknown> | null)?.[name] ?? null;
    if (value !== null && (typeof value !== 'string' || [...value].length > limit)) throw wrong(`the field device_info.${name} is no text of at most ${limit} characters`);
  }
  return { public_key, signature, challenge, timestamp, device_info, confirm_code } as Answer;
}

/** Returns the `svc:` form of a signed text; undefined if it has neither form. */
function svcForm(text: string): string | undefined {
  if (text.startsWith('svc:')) return text;
  const sentence = /^Sign this to (login|register) to ([^ ]+) at (\d+:[A-Za-z0-9_-]{22})$/.exec(text);
  return sentence ? `svc:${sentence[1]}:${sentence[2]}:${sentence[3]}` : undefined;
}

/** Returns the normalized public key, compressed and in lower case; undefined if it is not a key. */
function compressedKey(text: string): string | undefined {
  const hex = text.toLowerCase();
  if (/^0[23][0-9a-f]{64}$/.test(hex)) return hex;
  if (!/^04[0-9a-f]{128}$/.test(hex)) return undefined;
  return (Number.parseInt(hex.slice(-1), 16) % 2 === 0 ? '02' : '03') + hex.slice(2, 66);
}

class CodesInMemory implements CodeStore {
  readonly #entries = new Map<string, { value: string; until: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get(key: string): string | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.until > this.#now() ? entry.value : undefined;
  }

  set(key: string, value: string, seconds: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#now() + seconds * 1000 });
    // A code has two entries, and a third after it was answered.
    if (this.#entries.size > MAX_CODES * 3) this.#entries.delete(this.#entries.keys().next().value ?? '');
  }

  remove(key: string): boolean {
    return this.#entries.delete(key);
  }
}
