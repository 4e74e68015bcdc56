// A Hono site with Signpost's login page. Any framework with Request and Response works like this.
import { randomBytes } from 'node:crypto';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Signpost } from '@signpost/sdk';
import { loginHandlers, siteCookie } from '@signpost/sdk/login';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const random = () => randomBytes(32).toString('base64url');
const people = new Map(); // users by cookie; a real site uses its database, with an expiry
const cookie = siteCookie(SITE, 'site_login', 86_400); // over https, no other host can set it
const whoIs = (request) => people.get(cookie.read(request.headers.get('cookie')));

const login = loginHandlers(new Signpost(KEY, { baseUrl: API }), {
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
});

const app = new Hono();
app.use('/signpost/*', async (c, next) => (await login.handle(c.req.raw)) ?? next());
app.get('/', (c) => {
  const user = whoIs(c.req.raw);
  c.header('cache-control', 'no-store');
  return c.html(user ? `You are <b id="user">${user}</b>.` : '<a href="/signpost/login">Log in</a>');
});
serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' });
