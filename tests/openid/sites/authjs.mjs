// A site with Auth.js, called like from its framework integrations.
import { inspect } from 'node:util';
import { Auth } from '@auth/core';
import { serve } from './serve.mjs';

serve(({ issuer, client_id, client_secret, configuration, origin }) => {
  // Its pages do not show the cause of an error.
  let failed;
  const config = {
    basePath: configuration ? '/api/auth' : '/auth',
    trustHost: true,
    secret: 'a secret for tests only, 32 letters',
    providers: configuration ? printed(configuration).providers : [
      {
        id: 'signpost',
        name: 'Signpost',
        type: 'oidc',
        issuer,
        clientId: client_id,
        clientSecret: client_secret,
        checks: ['pkce', 'state', 'nonce'],
      },
    ],
    callbacks: {
      jwt: ({ token, profile }) => (profile ? { ...token, profile } : token),
      session: ({ session, token }) => ({ ...session, ...token.profile }),
    },
    logger: { error: (error) => (failed = inspect(error)), warn() {}, debug() {} },
  };
  /** Forwards a request to Auth.js, and its cookies to the browser. */
  const ask = async (address, request, response, form) => {
    const headers = { cookie: request.headers.cookie ?? '' };
    const passed = new Request(new URL(address, origin), { method: form ? 'POST' : 'GET', headers, body: form });
    const reply = await Auth(passed, config);
    for (const cookie of reply.headers.getSetCookie()) response.appendHeader('set-cookie', cookie);
    return reply;
  };
  /** Submits a form of Auth.js: first fetches its CSRF token, with the token's cookie. */
  const press = async (address, request, response) => {
    const first = await ask(`${config.basePath}/csrf`, request, response);
    const { csrfToken } = await first.json();
    const cookies = first.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
    const with_token = { headers: { cookie: [request.headers.cookie, ...cookies].filter(Boolean).join('; ') } };
    const form = new URLSearchParams({ csrfToken, callbackUrl: `${origin}/` });
    return new URL((await ask(address, with_token, response, form)).headers.get('location'));
  };
  return {
    '/login': (_, __, request, response) => press(`${config.basePath}/signin/signpost`, request, response),
    '/logout': (_, __, request, response) => press(`${config.basePath}/signout`, request, response),
    async '/'(_, __, request, response) {
      return (await (await ask(`${config.basePath}/session`, request, response)).json()) ?? undefined;
    },
    async '*'(url, _, request, response) {
      const reply = await ask(url.href, request, response);
      const location = reply.headers.get('location');
      response.writeHead(reply.status, { ...(location && { location }) }).end(url.searchParams.has('error') ? failed : await reply.text());
    },
  };
});

/** Parses the command's output, which is for Next.js: its environment is in comments, its module exports a single value. */
function printed(text) {
  const env = Object.fromEntries([...text.matchAll(/^\/\/ +(AUTH_\w+)="(.*)"$/gm)].map(([, name, value]) => [name, value]));
  const body = text.replace(/^import .*$/m, '').replace(/^export const .* = NextAuth\(/m, 'return (');
  return new Function('process', body)({ env });
}
