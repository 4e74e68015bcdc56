// An Express site with Signpost's login page.
import { randomBytes } from 'node:crypto';
import express from 'express';
import { Signpost } from '@signpost/sdk';
import { expressLogin } from '@signpost/sdk/express';
import { siteCookie } from '@signpost/sdk/login';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const random = () => randomBytes(32).toString('base64url');
const people = new Map(); // users by cookie; a real site uses its database, with an expiry
const cookie = siteCookie(SITE, 'site_login', 86_400); // over https, no other host can set it
const whoIs = (request) => people.get(cookie.read(request.headers.cookie));

const app = express();
app.use(
  expressLogin(new Signpost(KEY, { baseUrl: API }), {
    domain: DOMAIN,
    site: SITE,
    cookieSecret: process.env.COOKIE_SECRET || random(), // identical on all servers of the site, and after a restart
    webhookSecrets: process.env.WEBHOOK_SECRET || undefined,
    signIn({ user }) {
      const value = random(); // a new value, never the value from before the login
      people.set(value, user.id);
      return [cookie.set(value)];
    },
    signOut(request) {
      people.delete(cookie.read(request.headers.cookie));
      return [cookie.clear()];
    },
    currentUser: whoIs,
    onEvent: ({ event, data }) => console.log(`${event} of ${data.user_id}`),
  }),
);
app.use(express.json()); // after the login: the signature of an event covers its raw body
app.get('/', (request, response) => {
  const user = whoIs(request);
  const links = '<a href="/signpost/link">Add a key</a> <a href="/signpost/logout">Log out</a>';
  response.set('cache-control', 'no-store');
  response.send(user ? `You are <b id="user">${user}</b>. ${links}` : '<a href="/signpost/login">Log in</a>');
});
app.listen(PORT, 'localhost');
