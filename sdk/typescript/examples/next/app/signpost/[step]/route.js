// app/signpost/[step]/route.js: the login of a Next.js site. Its pages read the user with `whoIs` of `people.js`.
import { Signpost } from '@signpost/sdk';
import { loginHandlers } from '@signpost/sdk/login';
import { signIn, signOut, whoIs } from '../../../people.js';

let login;

/** Made at the first request: while Next.js builds the site, there are no secrets. */
function handlers() {
  const { API, KEY, DOMAIN = 'localhost', SITE = 'http://localhost:3000', COOKIE_SECRET, WEBHOOK_SECRET } = process.env;
  return (login ??= loginHandlers(new Signpost(KEY, { baseUrl: API }), {
    domain: DOMAIN,
    site: SITE,
    cookieSecret: COOKIE_SECRET,
    webhookSecrets: WEBHOOK_SECRET || undefined,
    signIn,
    signOut: (request) => signOut(request.headers.get('cookie')),
    currentUser: (request) => whoIs(request.headers.get('cookie')),
  }));
}

export const dynamic = 'force-dynamic';
export const GET = async (request) => (await handlers().handle(request)) ?? new Response('Not found', { status: 404 });
export const POST = GET;
