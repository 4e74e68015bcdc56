// Conversion of requests of Express, Connect, `node:http` and Fastify to `fetch` requests, and framework-specific options.
import { utf8 } from './bytes.js';
import type { Signpost } from './client.js';
import { loginHandlers, type Login, type LoginOptions } from './login.js';
import type { SetCookies } from './site.js';
import { walletHandlers, type Code, type WalletHandlers, type WalletLogin, type WalletOptions } from './wallet.js';
import { parsedBody } from './webhooks.js';

/** @internal */
export const MAX_BODY_BYTES = 64 * 1024;

/** The options of the login handlers, with the framework's own requests and responses. */
export interface FrameworkLoginOptions<Req, Res> extends Omit<LoginOptions, 'signIn' | 'signOut' | 'currentUser' | 'confirmRecent'> {
  /** Logs the browser in: sets the site's own cookie on the response, with a new value. */
  signIn(login: Login, request: Req, response: Res): SetCookies | Promise<SetCookies>;
  /** Returns the ID (`usr_…`) of the logged-in user. With it, `<path>/link` adds another key to the user's account. */
  currentUser?: ((request: Req, response: Res) => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /** Ends the site's login. With it, `<path>/logout` logs the browser out. */
  signOut?: ((request: Req, response: Res) => SetCookies | Promise<SetCookies>) | undefined;
  /** Returns whether the logged-in user proved a moment ago to be this user; required for the first key of an account. */
  confirmRecent?: ((request: Req, response: Res) => boolean | Promise<boolean>) | undefined;
}

/** The options of the wallet handlers, with the framework's own requests and responses. */
export interface FrameworkWalletOptions<User, Req, Res> extends Omit<WalletOptions<User>, 'signIn'> {
  /** Logs the browser in: sets the site's own cookie on the response, with a new value. */
  signIn(login: WalletLogin<User>, request: Req, response: Res): SetCookies | Promise<SetCookies>;
}

/** The members of a `node:http` request that are used. */
export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  /** The unmodified URL, if `url` is relative to a mount path. */
  originalUrl?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
}

/** The code functions for the login page of a site that receives wallets' answers. */
export interface PageCodes<Req> {
  /** Opens a session and returns its code for a page; `cookie` is a `Set-Cookie` value for the page's response. */
  showCode: WalletHandlers['showCode'];
  /** Returns a new code for the page. Undefined if this request's browser was not shown the old code: respond with 404. */
  refreshCode(sid: string, request: Req): Promise<Code | undefined>;
}

/** @internal Responds to a request, with access to the framework's request and response. */
export type Answer<Req, Res> = (request: Request, own: [Req, Res]) => Promise<Response | undefined>;

/** @internal */
export function adaptLogin<Req, Res>(signpost: Signpost, options: FrameworkLoginOptions<Req, Res>): Answer<Req, Res> {
  const pairs = new WeakMap<Request, [Req, Res]>();
  const own = (request: Request) => pairs.get(request) as [Req, Res];
  const { signIn, signOut, currentUser, confirmRecent, ...rest } = options;
  const { handle } = loginHandlers(signpost, {
    ...rest,
    signIn: (login, request) => signIn.call(options, login, ...own(request)),
    signOut: signOut && ((request) => signOut.call(options, ...own(request))),
    currentUser: currentUser && ((request) => currentUser.call(options, ...own(request))),
    confirmRecent: confirmRecent && ((request) => confirmRecent.call(options, ...own(request))),
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

/** @internal Returns the request with this body and the site's origin. */
export function toRequest(site: string, { method: asked = 'GET', url = '/', originalUrl = url, headers }: NodeRequest, body?: Uint8Array<ArrayBuffer>): Request {
  // `Request` does not allow these methods; they are rejected like other unsupported methods.
  const method = /^(?:connect|trace|track)$/i.test(asked) ? 'OPTIONS' : asked;
  const fields = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(':')) fields.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD';
  // HTTP/2 has the host in `:authority`.
  const authority = headers[':authority'];
  if (typeof authority === 'string' && !fields.has('host')) fields.set('host', authority);
  // A URL in absolute form, as clients send to proxies, matches no handler.
  const path = originalUrl.startsWith('/') ? originalUrl : '/';
  return new Request(new URL(site).origin + path, { method, headers: fields, ...(hasBody && { body }) });
}

interface Readable extends AsyncIterable<Uint8Array> {
  body?: unknown;
  rawBody?: unknown;
  readableDidRead?: boolean;
  iterator?(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>;
}

/** @internal Returns the raw body, up to one byte over the limit. Throws `parsed_body` if the body was read before. */
export async function rawBody(request: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const { body, rawBody: kept, readableDidRead } = request as Readable;
  for (const given of [kept, body]) {
    if (given instanceof Uint8Array) return new Uint8Array(given);
    if (typeof given === 'string') return utf8(given);
  }
  if (readableDidRead) throw parsedBody();
  const bytes = new Uint8Array(MAX_BODY_BYTES + 1);
  let length = 0;
  // The connection stays open if the body is too long, so that the error can be sent.
  for await (const chunk of (request as Readable).iterator?.({ destroyOnReturn: false }) ?? (request as Readable)) {
    const part = chunk.subarray(0, bytes.length - length);
    bytes.set(part, length);
    length += part.length;
    if (length === bytes.length) break;
  }
  return bytes.slice(0, length);
}
