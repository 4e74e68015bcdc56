import { SignpostError, checkOptions, invalidArgument, type ErrorFacts } from './error.js';
import { IdleTimer, readEvents } from './stream.js';

const USER_AGENT = 'signpost-sdk-typescript/0.1.0';
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const LONGEST_WAIT = 30;

export interface SignpostOptions {
  /** Base URL, with `/v1` or `/sandbox/v1`. Default: `http://localhost:8080/sandbox/v1`. */
  baseUrl?: string | undefined;
  /** Timeout of an attempt, in seconds: more than 0, at most 600. Default: 30. */
  timeout?: number | undefined;
  /** Maximum retries after 429, 503 or a lost connection: 0 to 10. Default: 2. */
  retries?: number | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** The MCP URL of the ATM locator. Default: `/mcp` at the origin of the base URL. */
  mcpUrl?: string | undefined;
  /** The token for the ATM locator, if the server requires one: an access token, or an API key with the scope `mcp`. */
  mcpToken?: string | undefined;
  /** @internal Maximum `Retry-After` that is waited for, in seconds. */
  longestWait?: number | undefined;
  /** @internal */
  clock?: Partial<Clock> | undefined;
}

const OPTIONS: Record<keyof SignpostOptions, true> = {
  baseUrl: true, timeout: true, retries: true, fetch: true, mcpUrl: true, mcpToken: true, longestWait: true, clock: true,
};

/** @internal Time, randomness and sleeping, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** At least 0, less than 1. */
  random(): number;
  /** Waits between two attempts, in seconds. */
  sleep(seconds: number): Promise<void>;
  /** Waits between two polls, in seconds. */
  pause(seconds: number): Promise<void>;
}

/** @internal */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, or a full URL for calls without the API key. */
  path: string;
  query?: object | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether the call may be retried after a lost connection. */
  repeatable: boolean;
  /** Seconds that the service itself may wait, in addition to the timeout. */
  patience?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Whether the call is sent without the API key. */
  anonymous?: boolean | undefined;
  reply: 'json' | 'svg' | 'png' | 'none';
}

/** @internal */
export class Transport {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly #key: string;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #longestWait: number;
  readonly #fetch: typeof fetch;

  constructor(key: string, options: SignpostOptions) {
    checkOptions(options, OPTIONS, 'Signpost');
    const { timeout = 30, retries = 2 } = options;
    if (!(timeout > 0 && timeout <= 600)) throw invalidArgument('timeout is a number of seconds above 0, at most 600');
    if (!(Number.isInteger(retries) && retries >= 0 && retries <= 10)) throw invalidArgument('retries is a whole number from 0 to 10');
    this.#key = key;
    this.baseUrl = readBaseUrl(options.baseUrl ?? 'http://localhost:8080/sandbox/v1');
    this.#timeout = timeout;
    this.#retries = retries;
    this.#longestWait = options.longestWait ?? LONGEST_WAIT;
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    const sleep = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));
    this.clock = { now: Date.now, random: Math.random, sleep, pause: sleep, ...options.clock };
  }

  read<T>(path: string, query?: object, more: Pick<Call, 'patience' | 'signal'> = {}): Promise<T> {
    return this.send({ method: 'GET', path, query, ...more, repeatable: true, reply: 'json' });
  }

  /** Sends a call that is retried after a lost connection. */
  write<T>(method: 'POST' | 'PATCH', path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
    return this.send({ method, path, body, headers, repeatable: true, reply: 'json' });
  }

  /** Sends a call that must not be repeated. */
  writeOnce<T>(method: 'POST' | 'PATCH', path: string, body?: object): Promise<T> {
    return this.send({ method, path, body, repeatable: false, reply: 'json' });
  }

  remove(path: string): Promise<void> {
    return this.send({ method: 'DELETE', path, repeatable: false, reply: 'none' });
  }

  /** Sends a call, retries it if that is safe, and parses its reply. */
  async send<T>(call: Call): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return (await this.#attempt(call)) as T;
      } catch (error) {
        const wait = attempt < this.#retries ? this.#waitAfter(error, call, attempt) : undefined;
        if (wait === undefined) throw error;
        await this.clock.sleep(wait);
      }
    }
  }

  /** Returns the delay before the next attempt, in seconds; undefined if there is none. */
  #waitAfter(error: unknown, call: Call, attempt: number): number | undefined {
    if (!(error instanceof SignpostError)) return undefined;
    const jitter = this.clock.random() * 0.5 * 2 ** attempt;
    if (error.status === 429 || error.status === 503) {
      const asked = error.retryAfter ?? 0;
      return asked > this.#longestWait ? undefined : asked + jitter;
    }
    const lost = error.code === 'connection_failed' || error.code === 'timeout';
    return lost && call.repeatable ? jitter : undefined;
  }

  async #attempt(call: Call): Promise<unknown> {
    const [url, init] = [this.#url(call), { ...this.#request(call), redirect: 'manual' as const }];
    const seconds = this.#timeout + (call.patience ?? 0);
    const late = AbortSignal.timeout(seconds * 1000);
    const signal = call.signal ? AbortSignal.any([late, call.signal]) : late;
    let response: Response;
    let body: Uint8Array | undefined;
    try {
      response = await this.#fetch(url, { ...init, signal });
      body = await readBody(response);
    } catch (cause) {
      call.signal?.throwIfAborted();
      if (late.aborted) throw new SignpostError('timeout', `no reply within ${seconds} s from ${url.origin}`);
      throw new SignpostError('connection_failed', `the connection to ${url.origin} failed or was cut`, { cause });
    }
    return readReply(call, response, body, this.clock.now());
  }

  /**
   * Opens a stream of server-sent events and yields the data of each. It is not retried: a lost connection, or a pause of
   * more than the timeout, is an error.
   */
  async *stream<T>(path: string, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
    const call: Call = { method: 'GET', path, headers: { accept: 'text/event-stream, application/json' }, repeatable: false, reply: 'json', signal };
    const idle = new IdleTimer(this.#timeout);
    try {
      const response = await this.#fetch(this.#url(call), { ...this.#request(call), redirect: 'manual', signal: signal ? AbortSignal.any([signal, idle.signal]) : idle.signal });
      const isStream = response.ok && /^text\/event-stream *(?:;|$)/i.test(response.headers.get('content-type') ?? '');
      if (!isStream) {
        readReply(call, response, await readBody(response), this.clock.now()); // throws the service's error
        throw new SignpostError('invalid_response', 'the reply is no stream of events');
      }
      yield* readEvents(response, idle) as AsyncGenerator<T, void, undefined>;
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof SignpostError) throw cause;
      if (idle.signal.aborted) throw new SignpostError('timeout', `the stream sent nothing for ${this.#timeout} s`);
      throw new SignpostError('connection_failed', 'the connection of the stream failed or was cut', { cause });
    } finally {
      idle.stop();
    }
  }

  #url({ path, query = {} }: Call): URL {
    const url = new URL(path.startsWith('/') ? this.baseUrl + path : path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    return url;
  }

  #request({ method, path, body, headers = {}, anonymous = false }: Call): RequestInit {
    const given = { accept: 'application/json', 'user-agent': USER_AGENT, ...headers };
    const typed = body === undefined ? given : { ...given, 'content-type': 'application/json' };
    try {
      const fields = new Headers(path.startsWith('/') && !anonymous ? { ...typed, authorization: `Bearer ${this.#key}` } : typed);
      return { method, headers: fields, ...(body !== undefined && { body: JSON.stringify(body) }) };
    } catch {
      // The runtime's error message would contain the key.
      throw invalidArgument('the API key, the MCP token or the Idempotency-Key has characters that no header can have, such as a line break');
    }
  }
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(text) && !url.username && !url.password;
  if (!plain) throw invalidArgument('baseUrl is http(s)://host/v1 or …/sandbox/v1, without user name, query and fragment');
  return url.href.replace(/\/$/, '');
}

/** Returns the body of a reply; undefined if it is too long. */
async function readBody(response: Response): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    length += part.value.length;
    if (length > MAX_REPLY_BYTES) {
      await reader?.cancel();
      return undefined;
    }
    parts.push(part.value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}

function readReply(call: Call, response: Response, raw: Uint8Array | undefined, now: number): unknown {
  const { status, headers } = response;
  const facts = { status, requestId: headers.get('x-request-id') ?? undefined, retryAfter: readRetryAfter(headers, now) };
  const unexpected = (what: string) => new SignpostError('invalid_response', `the reply (status ${status}) ${what}`, facts);
  if (raw === undefined) throw unexpected(`has more than ${MAX_REPLY_BYTES} bytes`);
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) throw unexpected('is a redirect, which is not followed');
  if (call.reply === 'none' && status === 204) return undefined;
  if (call.reply === 'none' && response.ok) throw unexpected('is not the empty one of a deletion');
  const type = /^[^ ;]*/.exec(headers.get('content-type') ?? '')?.[0].toLowerCase();
  const image = { svg: 'image/svg+xml', png: 'image/png', json: undefined, none: undefined }[call.reply];
  if (image && response.ok && type !== image) throw unexpected('is no image');
  if (call.reply === 'png' && response.ok) return raw;
  const text = new TextDecoder().decode(raw);
  if (call.reply === 'svg' && response.ok) return text;
  const body = parseObject(text);
  if (!body) throw unexpected('is not a JSON object: is the base URL that of the service?');
  if (response.ok) return body;
  throw readError(body, facts) ?? unexpected('is an error of another kind than the service has');
}

function readError({ error }: Record<string, unknown>, facts: ErrorFacts): SignpostError | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message, details } = error as Record<string, unknown>;
  const text = typeof message === 'string' ? message : 'no message';
  if (typeof code === 'number') return new SignpostError('mcp_error', text, { ...facts, details: { code } });
  if (typeof code !== 'string') return undefined;
  return new SignpostError(code, text, { ...facts, details: typeof details === 'object' ? { ...details } : {} });
}

/** @internal */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Parses `Retry-After` in either form, into seconds. */
function readRetryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
