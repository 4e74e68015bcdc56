// What Express, Connect, `node:http` and Fastify share: requests of Node as those of `fetch`, and what `signIn` gets of them.
import { utf8 } from './bytes.js';
import type { Signpost } from './client.js';
import { loginHandlers, type Login, type LoginOptions } from './login.js';
import type { SetCookies } from './site.js';
import { walletHandlers, type Code, type WalletHandlers, type WalletLogin, type WalletOptions } from './wallet.js';
import { parsedBody } from './webhooks.js';

/** @internal */
export const MAX_BODY_BYTES = 64 * 1024;

/** The options of the login handlers, with the framework's own requests and responses. */
export interface FrameworkLoginOptions<Req, Res> extends Omit<LoginOptions, 'signIn' | 'currentUser'> {
  /** Logs the browser in: sets the site's own cookie on the response, with a new value. */
  signIn(login: Login, request: Req, response: Res): SetCookies | Promise<SetCookies>;
  /** The ID (`usr_…`) of who is logged in. With it `<path>/link` adds another key to that account. */
  currentUser?: ((request: Req, response: Res) => string | null | undefined | Promise<string | null | undefined>) | undefined;
}

/** The options of the wallet handlers, with the framework's own requests and responses. */
export interface FrameworkWalletOptions<User, Req, Res> extends Omit<WalletOptions<User>, 'signIn'> {
  /** Logs the browser in: sets the site's own cookie on the response, with a new value. */
  signIn(login: WalletLogin<User>, request: Req, response: Res): SetCookies | Promise<SetCookies>;
}

/** As much of a request of `node:http` as is read. */
export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  /** As it came, where `url` is below a mount path. */
  originalUrl?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
}

/** What the login page of a site needs that wallets post to. */
export interface PageCodes<Req> {
  /** Opens a session for a page that shows its code; `cookie` is a `Set-Cookie` value that goes out with the page. */
  showCode: WalletHandlers['showCode'];
  /** A new code for the same page; undefined if this request's browser was not shown the old one: answer that with 404. */
  refreshCode(sid: string, request: Req): Promise<Code | undefined>;
}

/** @internal Answers a request with the framework's request and response at hand. */
export type Answer<Req, Res> = (request: Request, own: [Req, Res]) => Promise<Response | undefined>;

/** @internal */
export function adaptLogin<Req, Res>(signpost: Signpost, options: FrameworkLoginOptions<Req, Res>): Answer<Req, Res> {
  const pairs = new WeakMap<Request, [Req, Res]>();
  const own = (request: Request) => pairs.get(request) as [Req, Res];
  const { signIn, currentUser, ...rest } = options;
  const { handle } = loginHandlers(signpost, {
    ...rest,
    signIn: (login, request) => signIn.call(options, login, ...own(request)),
    currentUser: currentUser && ((request) => currentUser.call(options, ...own(request))),
  });
  return (request, pair) => handle((pairs.set(request, pair), request));
}

/** @internal */
export function adaptWallet<User, Req, Res>(
  signpost: Signpost,
  options: FrameworkWalletOptions<User, Req, Res>,
  toNode: (request: Req) => NodeRequest,
): { answer: Answer<Req, Res>; codes: PageCodes<Req> } {
  const pairs = new WeakMap<Request, [Req, Res]>();
  const signIn = (login: WalletLogin<User>, request: Request) => options.signIn(login, ...(pairs.get(request) as [Req, Res]));
  const { handle, showCode, refreshCode } = walletHandlers<User>(signpost, { ...options, signIn });
  const codes = { showCode, refreshCode: (sid: string, request: Req) => refreshCode(sid, toRequest(options.site, toNode(request))) };
  return { answer: (request, pair) => handle((pairs.set(request, pair), request)), codes };
}

/** @internal The request with this body, at the site's address. */
export function toRequest(site: string, { method: asked = 'GET', url = '/', originalUrl = url, headers }: NodeRequest, body?: Uint8Array<ArrayBuffer>): Request {
  // Methods that a `Request` cannot have are refused as any other.
  const method = /^(?:connect|trace|track)$/i.test(asked) ? 'OPTIONS' : asked;
  const fields = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(':')) fields.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD';
  // Nothing is below the address that a client of a proxy asks for.
  const path = originalUrl.startsWith('/') ? originalUrl : '/';
  return new Request(new URL(site).origin + path, { method, headers: fields, ...(hasBody && { body }) });
}

interface Readable extends AsyncIterable<Uint8Array> {
  body?: unknown;
  rawBody?: unknown;
  readableDidRead?: boolean;
  iterator?(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>;
}

/** @internal The raw body, one byte longer than the longest at most; throws `parsed_body` if something read it before. */
export async function rawBody(request: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const { body, rawBody: kept, readableDidRead } = request as Readable;
  for (const given of [kept, body]) {
    if (given instanceof Uint8Array) return new Uint8Array(given);
    if (typeof given === 'string') return utf8(given);
  }
  if (readableDidRead) throw parsedBody();
  const bytes = new Uint8Array(MAX_BODY_BYTES + 1);
  let length = 0;
  // The connection outlives a body that is too long, so that this can be said.
  for await (const chunk of (request as Readable).iterator?.({ destroyOnReturn: false }) ?? (request as Readable)) {
    const part = chunk.subarray(0, bytes.length - length);
    bytes.set(part, length);
    length += part.length;
    if (length === bytes.length) break;
  }
  return bytes.slice(0, length);
}
