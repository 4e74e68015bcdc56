// A site on Express whose people log in on Signpost's page.
import { randomBytes } from 'node:crypto';
import express from 'express';
import { Signpost } from '@signpost/sdk';
import { expressLogin } from '@signpost/sdk/express';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const random = () => randomBytes(32).toString('base64url');
const people = new Map(); // who is logged in; a real site has this in its database, and lets it end
const whoIs = (request) => people.get(/(?:^|; )site_login=([^;]+)/.exec(request.headers.cookie)?.[1]);

const app = express();
app.use(
  expressLogin(new Signpost(KEY, { baseUrl: API }), {
    domain: DOMAIN,
    site: SITE,
    cookieSecret: process.env.COOKIE_SECRET || random(), // the same on all servers of the site, and after a restart
    webhookSecrets: process.env.WEBHOOK_SECRET || undefined,
    signIn({ user }, _request, response) {
      const value = random(); // never the one from before the login
      people.set(value, user);
      response.cookie('site_login', value, { httpOnly: true, sameSite: 'lax', secure: SITE.startsWith('https:'), maxAge: 86_400_000 });
    },
    currentUser: whoIs,
    onEvent: ({ event, data }) => console.log(`${event} of ${data.user_id}`),
  }),
);
app.use(express.json()); // behind the login: the signature of an event is over its bytes as they came
app.get('/', (request, response) => {
  const user = whoIs(request);
  response.set('cache-control', 'no-store');
  response.send(user ? `You are <b id="user">${user}</b>. <a href="/signpost/link">Add a key</a>` : '<a href="/signpost/login">Log in</a>');
});
app.listen(PORT, 'localhost');
