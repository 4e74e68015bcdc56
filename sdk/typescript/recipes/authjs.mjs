// A site with Signpost's login page and the sessions of Auth.js (@auth/express).
import { randomBytes } from 'node:crypto';
import { ExpressAuth, getSession } from '@auth/express';
import { encode } from '@auth/core/jwt';
import express from 'express';
import { Signpost } from '@signpost/sdk';
import { expressLogin } from '@signpost/sdk/express';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const secure = SITE.startsWith('https:');
const secret = process.env.AUTH_SECRET || randomBytes(32).toString('base64url');
const maxAge = 7 * 24 * 60 * 60;
const cookie = { name: `${secure ? '__Host-' : ''}authjs.session-token`, rules: `; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}` };

const config = {
  secret,
  trustHost: true,
  basePath: '/auth',
  providers: [], // other providers are possible
  session: { strategy: 'jwt', maxAge },
  cookies: { sessionToken: { name: cookie.name } },
  callbacks: { session: ({ session, token }) => ({ ...session, user: { ...session.user, id: token.sub } }) },
};

const app = express();
app.use(
  expressLogin(new Signpost(KEY, { baseUrl: API }), {
    domain: DOMAIN,
    site: SITE,
    cookieSecret: process.env.COOKIE_SECRET || randomBytes(32).toString('base64url'),
    webhookSecrets: process.env.WEBHOOK_SECRET || undefined,
    async signIn({ user }) {
      // A session in the format of Auth.js, which reads, renews and ends it.
      const token = await encode({ token: { sub: user.id }, secret, salt: cookie.name, maxAge });
      return [`${cookie.name}=${token}${cookie.rules}`];
    },
    currentUser: async (request) => (await getSession(request, config))?.user.id,
  }),
);
app.use('/auth', ExpressAuth(config)); // /auth/session, /auth/signout

app.get('/', async (request, response) => {
  const session = await getSession(request, config);
  response.set('cache-control', 'no-store');
  const out = '<a href="/auth/signout">Log out</a>';
  response.send(session ? `You are <b id="user">${session.user.id}</b>. ${out}` : '<a href="/signpost/login">Log in</a>');
});
app.listen(PORT, 'localhost');
