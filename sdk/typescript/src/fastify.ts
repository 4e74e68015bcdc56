import { MAX_BODY_BYTES, adaptLogin, adaptWallet, rawBody, toRequest, type Answer, type FrameworkLoginOptions, type FrameworkWalletOptions, type NodeRequest, type PageCodes } from './adapt.js';
import type { Signpost } from './client.js';

export type { FrameworkLoginOptions, FrameworkWalletOptions, NodeRequest, PageCodes } from './adapt.js';

/** The members of a Fastify instance that are used. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(type: string, options: { parseAs: 'buffer'; bodyLimit: number }, parser: (request: unknown, body: unknown, done: (error: null, body: unknown) => void) => void): unknown;
  route(options: { method: string[]; url: string; handler: (request: any, reply: any) => Promise<unknown> }): unknown;
}

/** The members of a Fastify reply that are used. */
export interface FastifyAnswer {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
  callNotFound(): unknown;
}

/** For `app.register`. */
export type FastifyPlugin = (scope: FastifyScope) => Promise<void>;

/**
 * The login handlers as a plugin, which reads its own bodies raw.
 *
 * ```ts
 * app.register(fastifyLogin(signpost, { domain: 'shop.example', site: 'https://shop.example', cookieSecret, signIn }));
 * ```
 */
export function fastifyLogin<Req extends { raw: NodeRequest }, Rep extends FastifyAnswer>(signpost: Signpost, options: FrameworkLoginOptions<Req, Rep>): FastifyPlugin {
  return plugin(options, ['/login', '/register', '/link', '/return', '/logout', '/events'], adaptLogin(signpost, options));
}

/** The wallet handlers as a plugin, with `showCode` and `refreshCode` for the site's login page. */
export function fastifyWallet<User, Req extends { raw: NodeRequest }, Rep extends FastifyAnswer>(
  signpost: Signpost,
  options: FrameworkWalletOptions<User, Req, Rep>,
): FastifyPlugin & PageCodes<Req> {
  const { answer, codes } = adaptWallet(signpost, options, (request: Req) => request.raw);
  return Object.assign(plugin(options, ['/wallet/login', '/wallet/register', '/poll', '/events'], answer), codes);
}

function plugin<Req extends { raw: NodeRequest }, Rep extends FastifyAnswer>(
  { site, path = '/signpost' }: { site: string; path?: string | undefined },
  routes: string[],
  answer: Answer<Req, Rep>,
): FastifyPlugin {
  const handler = async (request: Req & { body?: unknown }, reply: Rep) => {
    const body = request.raw.method === 'POST' ? await rawBody({ body: request.body ?? '', readableDidRead: true }) : undefined;
    const response = await answer(toRequest(site, request.raw, body), [request, reply]);
    // The router also matches other encodings of the paths, such as `/signpost/%6cogin`.
    if (!response) return reply.callNotFound();
    reply.code(response.status);
    for (const [name, value] of response.headers) reply.header(name, value);
    return reply.send(await response.text());
  };
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => done(null, body));
    for (const url of routes) scope.route({ method: ['GET', 'POST'], url: path + url, handler });
  };
}
