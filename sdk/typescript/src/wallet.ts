import { isSame, toBase64Url } from './bytes.js';
import type { Signpost } from './client.js';
import { SignpostError, invalidArgument } from './error.js';
import { EventEndpoint, type EventOptions } from './events.js';
import { Site, cookieFor, cookiesOf, readCookies, readNext, readRaw, reply, type SetCookies } from './site.js';
import { parseObject } from './transport.js';
import type { Answer, Device } from './wire.js';

export type { EventOptions, SeenEvents } from './events.js';
export { isLocalPath, type SetCookies } from './site.js';

/** How far a wallet's clock may be from ours, in seconds. */
const CLOCK_TOLERANCE = 30;
/** How long a shown code is remembered, in seconds: its five minutes, and fifteen more in which it may be refreshed. */
const CODE_SECONDS = 1800;
const MAX_CODES = 10_000;
const DEVICE_LIMITS = { platform: 32, version: 64, device_id: 128 };

/** What handlers remember: texts under keys, each for some seconds. `GET`, `SET … EX` and `DEL` of a Redis are one. */
export interface CodeStore {
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  set(key: string, value: string, seconds: number): unknown;
  /** Whether it was there: of two calls at once, one gets true. */
  remove(key: string): boolean | Promise<boolean>;
}

/** Whom a browser is logged in as. */
export interface WalletLogin<User> {
  user: User;
  /** Compressed, in lower-case hex. */
  publicKey: string;
  mode: 'login' | 'register';
  next: string;
  sessionId: string;
}

export interface WalletOptions<User> extends EventOptions {
  /** The domain that people log in to, with the handler `direct`. */
  domain: string;
  /** The origin that people see, such as `https://shop.example`. */
  site: string;
  /** Where the handlers are. Default: `/signpost`. */
  path?: string | undefined;
  /** The user with this key (compressed, lower-case hex), if there is one. */
  findUser(publicKey: string): User | null | undefined | Promise<User | null | undefined>;
  /** Creates the user with this key, or returns nothing if there is one meanwhile. If it throws, the code is used up: the wallet scans the next. */
  createUser(publicKey: string, device: Device): User | null | undefined | Promise<User | null | undefined>;
  /** Logs the browser in: sets the site's own cookie, with a new value. Returns `Set-Cookie` values, if any. */
  signIn(login: WalletLogin<User>, request: Request): SetCookies | Promise<SetCookies>;
  /** Default: in memory, the last 10,000 codes of this process. */
  codes?: CodeStore | undefined;
  /** false: whoever knows a `sid` is logged in, as the specification has it. Open to relayed codes. Default: true. */
  bindPoll?: boolean | undefined;
  /** @internal */
  clock?: { now?: () => number } | undefined;
}

/** A code to show on the login page. */
export interface Code {
  /** What the page polls with. */
  sid: string;
  /** The text of the QR code, and the link for a wallet on the same device. */
  qr_data: string;
  expires_at: string;
}

export interface WalletHandlers {
  /** Answers wallets, polls and events below `path`; undefined for all other requests. */
  handle(request: Request): Promise<Response | undefined>;
  /** Opens a session for a page that shows its code; `cookie` is a `Set-Cookie` value that goes out with the page. */
  showCode(about?: { mode?: 'login' | 'register'; next?: string | undefined }): Promise<Code & { cookie: string }>;
  /** A new code for the same page; undefined if this request's browser was not shown the old one: answer that with 404. */
  refreshCode(sid: string, request: Request): Promise<Code | undefined>;
}

/**
 * Makes the handlers of a site that wallets post to: `POST <path>/wallet/login` and `/wallet/register`, `GET <path>/poll?sid=`, and `POST
 * <path>/events`. The service checks the signatures.
 */
export function walletHandlers<User>(signpost: Signpost, options: WalletOptions<User>): WalletHandlers {
  const flow = new WalletFlow(signpost, options);
  return {
    handle: (request) => flow.handle(request),
    showCode: ({ mode = 'login', next } = {}) => flow.showCode(mode, next),
    refreshCode: (sid, request) => flow.refreshCode(sid, request),
  };
}

/** What is remembered of a code that was shown. */
interface ShownCode {
  mode: 'login' | 'register';
  next: string;
  binding: string;
  challenge: string;
  /** Milliseconds since 1970. */
  expires: number;
  /** Who answered. */
  key?: string;
}

/** An answer that is refused, and its status. */
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
    if (!options.domain) throw invalidArgument('domain is missing: the one that people log in to');
    this.#site = new Site(options.site, options.path);
    this.#now = options.clock?.now ?? Date.now;
    this.#codes = options.codes ?? new CodesInMemory(this.#now);
    this.#events = new EventEndpoint(options, this.#now);
    // A wallet waits: it is told of a limit at once.
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
    if (request.method !== method) return reply(405, { error: `this address takes ${method}` }, { allow: method });
    if (route === '/events') return this.#events.receive(request);
    try {
      return await (route === '/poll' ? this.#poll(request) : this.#post(request, route === '/wallet/register' ? 'register' : 'login'));
    } catch (error) {
      if (error instanceof Refusal) return reply(error.status, { error: error.message }, error.headers);
      if (error instanceof SignpostError && error.code === 'parsed_body') throw error;
      return this.#events.fail(error);
    }
  }

  /** What a wallet or, where the domain has no event URL, the service posts. */
  async #post(request: Request, mode: 'login' | 'register'): Promise<Response> {
    const raw = await readRaw(request);
    if (!raw) throw new Refusal(413, 'the body is too long: at most 64 KiB are accepted');
    const body = parseObject(new TextDecoder().decode(raw));
    const isSigned = ['x-svc-signature', 'webhook-signature'].some((name) => request.headers.has(name));
    // What calls itself an event and is not signed is nobody's.
    if (isSigned || (body?.['event'] ?? null) !== null) return this.#events.receive(request, raw);
    const answer = readAnswer(body);
    const domain = this.#options.domain;
    await this.#take(answer, mode);
    const done = mode === 'login' ? ['authenticated', `logged in to ${domain}`] : ['registered', `registered with ${domain}`];
    return reply(200, { status: done[0], message: done[1] });
  }

  /** Checks an answer in the specification's order, and remembers who gave it. */
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
    // Whether there is a user is said to those alone who have the key.
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

  /** Whether a request comes from the browser that was shown the code, and from a page of this site. */
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

/** What a wallet is told where the service refuses its answer. */
function refuse(error: unknown): never {
  const { status = 0, code = '', retryAfter = 1 } = error instanceof SignpostError ? error : {};
  if (status === 429) throw new Refusal(429, `too many requests; try again in ${retryAfter} s`, { 'retry-after': String(retryAfter) });
  if (status === 406 || (status === 400 && ['invalid_signature', 'invalid_public_key'].includes(code))) throw NOT_VERIFIED;
  if ([404, 409, 410].includes(status)) throw NOT_HELD;
  if (status === 408) throw new Refusal(408, "the timestamp is more than 30 seconds from the service's time: sign again");
  throw error;
}

function readAnswer(body: Record<string, unknown> | undefined): Answer {
  const wrong = (what: string) => new Refusal(400, `${what}: public_key, signature and challenge are texts, timestamp is an integer of Unix seconds`);
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

/** The `svc:` rendering of what a wallet signed; undefined for what is neither rendering. */
function svcForm(text: string): string | undefined {
  if (text.startsWith('svc:')) return text;
  const sentence = /^Sign this to (login|register) to ([^ ]+) at (\d+:[A-Za-z0-9_-]{22})$/.exec(text);
  return sentence ? `svc:${sentence[1]}:${sentence[2]}:${sentence[3]}` : undefined;
}

/** The one spelling of a public key, compressed and in lower case; undefined for what is none. */
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
    // A code has two entries, and a third once it is answered.
    if (this.#entries.size > MAX_CODES * 3) this.#entries.delete(this.#entries.keys().next().value ?? '');
  }

  remove(key: string): boolean {
    return this.#entries.delete(key);
  }
}
