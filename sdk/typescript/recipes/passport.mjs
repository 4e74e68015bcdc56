// A site with Passport and express-session, and Signpost's login page.
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import { Signpost } from '@signpost/sdk';
import { expressLogin } from '@signpost/sdk/express';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const secure = SITE.startsWith('https:');
const random = () => randomBytes(32).toString('base64url');
const users = new Map(); // your table of users, by `usr_…`

passport.serializeUser((user, done) => done(null, user.id));
passport.deserializeUser((id, done) => done(null, users.get(id) ?? false));

const app = express();
app.use(
  session({
    secret: process.env.SESSION_SECRET || random(),
    name: secure ? '__Host-session' : 'session', // over https, no other host can set it
    proxy: secure, // a proxy terminates TLS: trust its X-Forwarded-Proto
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure },
  }),
);
app.use(passport.session());

// After the session, which `signIn` writes; before express.json(), because an event's signature covers its raw body.
app.use(
  expressLogin(new Signpost(KEY, { baseUrl: API }), {
    domain: DOMAIN,
    site: SITE,
    cookieSecret: process.env.COOKIE_SECRET || random(),
    webhookSecrets: process.env.WEBHOOK_SECRET || undefined,
    async signIn({ user: { id, username } }, request) {
      if (!users.has(id)) users.set(id, { id, username, since: new Date() });
      // Passport creates a new session, so that the session from before the login is invalid.
      await new Promise((resolve, reject) => request.login(users.get(id), (error) => (error ? reject(error) : resolve())));
    },
    currentUser: (request) => request.user?.id,
  }),
);
app.use(express.json());

app.get('/', (request, response) => {
  response.set('cache-control', 'no-store');
  const out = '<form method="post" action="/logout"><button>Log out</button></form>';
  response.send(request.user ? `You are <b id="user">${request.user.id}</b>. ${out}` : '<a href="/signpost/login">Log in</a>');
});
app.post('/logout', (request, response, next) => request.logout((error) => (error ? next(error) : response.redirect(303, '/'))));
app.listen(PORT, 'localhost');
