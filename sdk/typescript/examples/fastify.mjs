// A Fastify site with Signpost's login page.
import { randomBytes } from 'node:crypto';
import fastify from 'fastify';
import { Signpost } from '@signpost/sdk';
import { fastifyLogin } from '@signpost/sdk/fastify';
import { siteCookie } from '@signpost/sdk/login';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const random = () => randomBytes(32).toString('base64url');
const people = new Map(); // users by cookie; a real site uses its database, with an expiry
const cookie = siteCookie(SITE, 'site_login', 86_400); // over https, no other host can set it
const whoIs = (request) => people.get(cookie.read(request.headers.cookie));

const app = fastify();
app.register(
  fastifyLogin(new Signpost(KEY, { baseUrl: API }), {
    domain: DOMAIN,
    site: SITE,
    cookieSecret: process.env.COOKIE_SECRET || random(), // identical on all servers of the site, and after a restart
    webhookSecrets: process.env.WEBHOOK_SECRET || undefined,
    signIn({ user }) {
      const value = random(); // a new value, never the value from before the login
      people.set(value, user.id);
      return [cookie.set(value)];
    },
    currentUser: whoIs,
    onEvent: ({ event, data }) => console.log(`${event} of ${data.user_id}`),
  }),
);
app.get('/', (request, reply) => {
  const user = whoIs(request);
  reply.header('cache-control', 'no-store').type('text/html');
  return user ? `You are <b id="user">${user}</b>.` : '<a href="/signpost/login">Log in</a>';
});
await app.listen({ port: Number(PORT), host: 'localhost' });
