import { toHex, sha256, utf8 } from './bytes.js';
import { invalidArgument } from './error.js';
import { parsedBody } from './webhooks.js';

/** Maximum size of a body, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;
/** Maximum length of `next`, in bytes. Browsers drop larger cookies. */
const MAX_NEXT_BYTES = 1024;

/** `Set-Cookie` values that `signIn` returns. */
export type SetCookies = readonly string[] | { readonly cookies?: readonly string[] | undefined } | void;

/** @internal The site's origin and the path of its handlers. */
export class Site {
  readonly origin: string;
  readonly path: string;
  readonly isSecure: boolean;

  constructor(site: string, path = '/signpost') {
    const url = typeof site === 'string' && URL.canParse(site) ? new URL(site) : undefined;
    const isOrigin = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` && !/[?#]/.test(site);
    if (!isOrigin) throw invalidArgument('site is the origin that people see, such as https://shop.example, without a path');
    if (path !== '' && (!isLocalPath(path) || path.endsWith('/') || /[?#]/.test(path))) {
      throw invalidArgument('path begins with a slash and ends without one, such as /signpost');
    }
    this.origin = url.origin;
    this.path = path;
    this.isSecure = url.protocol === 'https:';
  }

  /** Returns a `Set-Cookie` value; over https, the name has the prefix `__Host-`. */
  setCookie(name: string, value: string, maxAge: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    return `${this.cookieName(name)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  }

  cookieName(name: string): string {
    return (this.isSecure ? '__Host-' : '') + name;
  }

  /** Returns whether a `Host` header names the site's host. */
  hasHost(host: string): boolean {
    const { protocol, host: own } = new URL(this.origin);
    return URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === own;
  }

  /** Returns the part of the request's path after `path`; undefined for other paths. */
  route(request: Request): string | undefined {
    const { pathname } = new URL(request.url);
    return pathname.startsWith(`${this.path}/`) ? pathname.slice(this.path.length) : undefined;
  }
}

/** A cookie of the site, such as its login cookie. */
export interface SiteCookie {
  /** Returns the `Set-Cookie` value that sets this value. */
  set(value: string): string;
  /** Returns the `Set-Cookie` value that deletes the cookie. */
  clear(): string;
  /** Returns the value from a `Cookie` header. Undefined if it is missing or ambiguous: another site may set a duplicate. */
  read(header: string | null | undefined): string | undefined;
}

/**
 * Creates a cookie that no other host can set or change: over https, its name begins with `__Host-`. `site` is the site's
 * public origin; `maxAge` is in seconds.
 */
export function siteCookie(site: string, name: string, maxAge: number): SiteCookie {
  const origin = new Site(site);
  if (!/^[\w.-]+$/.test(name)) throw invalidArgument('the name of a cookie may contain only letters, digits, and the characters . _ -');
  return {
    set(value) {
      if (!/^[\w.~%!#$&'()*+/:<=>?@[\]^`{|}-]*$/.test(value)) throw invalidArgument('the value of a cookie has no spaces, quotes, commas, semicolons or backslashes');
      return origin.setCookie(name, value, maxAge);
    },
    clear: () => origin.setCookie(name, '', 0),
    read(header) {
      const [value, ...others] = parseCookies(header ?? '').flatMap(([given, value]) => (given === origin.cookieName(name) ? [value] : []));
      return others.length === 0 && value !== '' ? value : undefined;
    },
  };
}

/** Returns whether the text is a path that stays on this site in a browser. */
export function isLocalPath(text: unknown): text is string {
  // Browsers remove tabs and line breaks: "/\t/evil.example" becomes "//evil.example".
  return typeof text === 'string' && /^\/(?![/\\])[^\u0000-\u001f\u007f-\u009f]*$/.test(text);
}

/** @internal Escapes a path or URL for the `Location` header. Existing escapes are not encoded again. */
export const toLocation = (place: string): string =>
  place.replace(/[^!-~]|["<>\\^`{|}]/gu, (letter) => toHex(utf8(letter)).toUpperCase().replace(/../g, '%$&'));

/** @internal Escapes the value of a query parameter: all but letters, digits and `-._~`. */
export const encodeQuery = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** @internal Returns the path to continue at; `/` if the text is not a path of this site. */
export function readNext(text: unknown): string {
  return isLocalPath(text) && utf8(text).length <= MAX_NEXT_BYTES ? text : '/';
}

/** @internal Returns the cookies of a request, in their order. */
export function readCookies(request: Request): [name: string, value: string][] {
  return parseCookies(request.headers.get('cookie') ?? '');
}

/** Returns the cookies of a `Cookie` header, in their order. */
function parseCookies(header: string): [name: string, value: string][] {
  const pairs = header.split(';').map((pair) => pair.split(/=(.*)/s));
  return pairs.flatMap(([name = '', value]) => (value === undefined ? [] : [[name.trim(), value.trim()]]));
}

/** @internal Returns a cookie name for this session, so that logins in two tabs do not collide. */
export async function cookieFor(prefix: string, sessionId: string): Promise<string> {
  return `${prefix}-${toHex((await sha256(sessionId)).slice(0, 8))}`;
}

/** @internal */
export function cookiesOf(set: SetCookies): readonly string[] {
  return (Array.isArray(set) ? set : (set as { cookies?: readonly string[] } | undefined)?.cookies) ?? [];
}

/** @internal Returns a response with a JSON body, or with plain text for a person. */
export function reply(status: number, body: object | string | undefined, headers: Record<string, string> = {}, cookies: readonly string[] = []): Response {
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  const fields = new Headers({ 'cache-control': 'no-store', ...(body !== undefined && { 'content-type': type }), ...headers });
  for (const cookie of cookies) fields.append('set-cookie', cookie);
  return new Response(typeof body === 'object' ? JSON.stringify(body) : (body ?? null), { status, headers: fields });
}

/** @internal Returns the raw body; undefined if it is too long. */
export async function readRaw(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.bodyUsed) throw parsedBody();
  const bytes = new Uint8Array(MAX_BODY_BYTES);
  let length = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    const chunk: Uint8Array = typeof part.value === 'string' ? utf8(part.value) : part.value;
    if (length + chunk.length > MAX_BODY_BYTES) {
      await reader?.cancel();
      return undefined;
    }
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes.slice(0, length);
}
