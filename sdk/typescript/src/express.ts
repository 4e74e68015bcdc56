import { adaptLogin, adaptWallet, rawBody, toRequest, type Answer, type FrameworkLoginOptions, type FrameworkWalletOptions, type NodeRequest, type PageCodes } from './adapt.js';
import type { Signpost } from './client.js';

export type { FrameworkLoginOptions, FrameworkWalletOptions, NodeRequest, PageCodes } from './adapt.js';

const POSTS = /^\/(?:events|wallet\/login|wallet\/register)(?:\?|$)/;

/** The members of a `node:http` response that are used. */
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string[]): unknown;
  end(body?: Uint8Array): unknown;
}

/** A middleware for Express and Connect; `node:http` can call it too. */
export type Middleware<Req, Res> = (request: Req, response: Res, next: (error?: unknown) => void) => Promise<void>;

/**
 * The login handlers as a middleware. Put it before `express.json()`, so that the signatures of events can be checked.
 *
 * ```ts
 * app.use(expressLogin(signpost, { domain: 'shop.example', site: 'https://shop.example', cookieSecret, signIn }));
 * ```
 */
export function expressLogin<Req extends NodeRequest, Res extends NodeResponse>(signpost: Signpost, options: FrameworkLoginOptions<Req, Res>): Middleware<Req, Res> {
  return middleware(options, adaptLogin(signpost, options));
}

/** The wallet handlers as a middleware, with `showCode` and `refreshCode` for the site's login page. */
export function expressWallet<User, Req extends NodeRequest, Res extends NodeResponse>(
  signpost: Signpost,
  options: FrameworkWalletOptions<User, Req, Res>,
): Middleware<Req, Res> & PageCodes<Req> {
  const { answer, codes } = adaptWallet(signpost, options, (request: Req) => request);
  return Object.assign(middleware(options, answer), codes);
}

function middleware<Req extends NodeRequest, Res extends NodeResponse>(
  { site, path = '/signpost' }: { site: string; path?: string | undefined },
  answer: Answer<Req, Res>,
): Middleware<Req, Res> {
  return async (request, response, next) => {
    try {
      const url = request.originalUrl ?? request.url ?? '';
      if (!url.startsWith(`${path}/`)) return next();
      // Only bodies of these handlers are read: other handlers need the bodies of their requests.
      const body = request.method === 'POST' && POSTS.test(url.slice(path.length)) ? await rawBody(request) : undefined;
      const reply = await answer(toRequest(site, request, body), [request, response]);
      if (!reply) return next();
      response.statusCode = reply.status;
      // The rest of a body that is too long is not read.
      if (reply.status === 413) response.setHeader('connection', 'close');
      for (const [name, value] of reply.headers) if (name !== 'set-cookie') response.setHeader(name, value);
      const cookies = reply.headers.getSetCookie();
      if (cookies.length > 0) response.appendHeader('set-cookie', cookies);
      response.end(new Uint8Array(await reply.arrayBuffer()));
    } catch (error) {
      next(error);
    }
  };
}
