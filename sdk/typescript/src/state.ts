// The signed cookies that bind pending logins to their browser.
import { fromBase64Url, hmac, isHmac, toBase64Url, utf8 } from './bytes.js';
import { cookieFor, readCookies, readNext, type Site } from './site.js';

/** Lifetime of a state, in seconds. */
const STATE_SECONDS = 1800;
/** Maximum pending logins per browser. */
const MAX_STATES = 3;

/** @internal The purpose of a pending login; `confirm` is the login of a known user before a link. */
export type StateMode = 'login' | 'register' | 'link' | 'confirm';

/** @internal A pending login. */
export interface State {
  /** Completes the session; the service has only its hash. */
  secret: string;
  mode: StateMode;
  next: string;
  /** The user of `link` and `confirm`. Undefined for other modes. */
  user: string | undefined;
}

/** @internal The states of a browser: one cookie per session, so that logins in two tabs do not collide. */
export class StateCookies {
  readonly #site: Site;
  readonly #key: Uint8Array<ArrayBuffer>;
  readonly #now: () => number;

  constructor(site: Site, secret: string, now: () => number) {
    this.#site = site;
    this.#key = utf8(secret);
    this.#now = now;
  }

  /** Returns the `Set-Cookie` value of a state. */
  async set(id: string, { secret, mode, next, user }: State): Promise<string> {
    const expires = Math.floor(this.#now() / 1000) + STATE_SECONDS;
    const parts = [secret, expires, mode, toBase64Url(utf8(next)), ...(user === undefined ? [] : [toBase64Url(utf8(user))])];
    const text = `v1.${parts.join('.')}`;
    const mac = toBase64Url(await hmac(this.#key, signedText(id, text)));
    return this.#site.setCookie(await cookieFor('signpost', id), `${text}.${mac}`, STATE_SECONDS);
  }

  /** Returns the state of a session, if it is valid, and the `Set-Cookie` values that delete it. */
  async take(request: Request, id: string): Promise<{ state: State | undefined; cleared: string[] }> {
    const name = await cookieFor('signpost', id);
    const cookies = readCookies(request).filter(([given]) => given === this.#site.cookieName(name));
    if (cookies.length === 0) return { state: undefined, cleared: [] };
    // Another site of the domain may set a duplicate.
    const states = await Promise.all(cookies.map(([, value]) => this.#read(id, value)));
    return { state: states.find((state) => state !== undefined), cleared: [this.#site.setCookie(name, '', 0)] };
  }

  /** Returns the `Set-Cookie` values that delete all states. */
  clear(request: Request): string[] {
    return [...new Set(this.#all(request).map(([name]) => this.#clear(name)))];
  }

  /** Returns the `Set-Cookie` values that delete all but the newest states, to limit the size of the `Cookie` header. */
  clearOld(request: Request): string[] {
    const states = this.#all(request);
    const kept = [...states].sort((a, b) => expiryOf(b[1]) - expiryOf(a[1])).slice(0, MAX_STATES - 1);
    return states.filter((state) => !kept.includes(state)).map(([name]) => this.#clear(name));
  }

  #all(request: Request): [name: string, value: string][] {
    const prefix = this.#site.cookieName('signpost-');
    return readCookies(request).filter(([name]) => name.startsWith(prefix) && /^[0-9a-f]{16}$/.test(name.slice(prefix.length)));
  }

  #clear(name: string): string {
    return this.#site.setCookie(name.replace('__Host-', ''), '', 0);
  }

  async #read(id: string, value: string): Promise<State | undefined> {
    const dot = value.lastIndexOf('.');
    const [text, mac] = [value.slice(0, Math.max(0, dot)), fromBase64Url(value.slice(dot + 1))];
    if (!mac || !(await isHmac(mac, this.#key, signedText(id, text)))) return undefined;
    const [, secret = '', expires = '', mode = '', next = '', user = ''] = text.split('.');
    if (!(Number(expires) > Math.floor(this.#now() / 1000))) return undefined;
    const belongsToUser = mode === 'link' || mode === 'confirm';
    if (belongsToUser !== (user !== '')) return undefined;
    return { secret, mode: mode as StateMode, next: readNext(readText(next)), user: belongsToUser ? readText(user) : undefined };
  }
}

const signedText = (id: string, text: string) => utf8(`signpost-state:${id}:${text}`);

const readText = (part: string) => new TextDecoder().decode(fromBase64Url(part));

/** Returns when a state expires, in Unix seconds; 0 if the value is no state. */
const expiryOf = (value: string): number => Number(/^v1\.[^.]*\.(\d{1,12})\./.exec(value)?.[1] ?? 0);
