// Requests that must not start a login: prefetches, and requests to another host than the site's.
import { encodeQuery, readNext, reply, type Site } from './site.js';

/** Headers that contain `prefetch`, `prerender` or `preview` in requests for a page that nobody opened yet. */
const PURPOSE_HEADERS = ['sec-purpose', 'x-sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
/** Headers of Next.js in requests for data of a page. If such a request gets no data, Next.js opens the page itself. */
const ROUTER_HEADERS = ['next-router-prefetch', 'rsc'];
/** The parameter of a request that was redirected from another host. */
const HOST_MARKER = 'signpost_host';

/** @internal Returns whether the request is a prefetch or comes from a script. Without `Sec-Fetch-Mode`, it is a navigation. */
export function isPrefetch({ headers }: Request): boolean {
  if (PURPOSE_HEADERS.some((name) => /prefetch|prerender|preview/i.test(headers.get(name) ?? ''))) return true;
  if (ROUTER_HEADERS.some((name) => headers.has(name))) return true;
  return (headers.get('sec-fetch-mode') ?? 'navigate') !== 'navigate';
}

/** @internal Returns the response to a prefetch. It must not be stored, because the navigation that follows needs another. */
export const ignorePrefetch = (): Response => reply(204, undefined);

/** @internal Returns the checked `next` of a request; `/` if it is missing, ambiguous or not a path of the site. */
export function nextOf(request: Request): string {
  const [next, ...others] = new URL(request.url).searchParams.getAll('next');
  return readNext(others.length > 0 ? '/' : next);
}

/** @internal Redirects requests to another host than the site's, whose cookies the site would not receive at the return. */
export class HostCheck {
  readonly #site: Site;
  readonly #log: (line: string) => void;
  readonly #logged = new Set<string>();

  constructor(site: Site, log: (line: string) => void) {
    this.#site = site;
    this.#log = log;
  }

  /**
   * Returns the URL at the site to redirect to; undefined if the login may start. A request is redirected once: behind a
   * proxy that replaces the `Host` header, each request seems to have another host.
   */
  redirect(request: Request, route: string): string | undefined {
    const url = new URL(request.url);
    const host = request.headers.get('host') ?? url.host;
    const { origin, path } = this.#site;
    if (this.#site.hasHost(host)) return undefined;
    const shown = JSON.stringify(host.slice(0, 100));
    if (url.searchParams.has(HOST_MARKER)) {
      this.#logOnce('proxy', `signpost: requests have the host ${shown} although browsers use ${origin}: let the proxy pass the Host header (nginx: proxy_set_header Host $host), or correct the option site`);
      return undefined;
    }
    this.#logOnce('redirect', `signpost: a login began at the host ${shown} and was redirected to ${origin}, the option site`);
    const next = nextOf(request);
    return `${origin}${path}${route}?${next === '/' ? '' : `next=${encodeQuery(next)}&`}${HOST_MARKER}=1`;
  }

  /** Logs a line once per process, because each request would repeat it. */
  #logOnce(kind: string, line: string): void {
    if (this.#logged.has(kind)) return;
    this.#logged.add(kind);
    this.#log(line);
  }
}
