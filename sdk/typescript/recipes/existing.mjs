// A site whose users have passwords, and add a wallet or a passkey to their accounts.
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import { Signpost, SignpostError } from '@signpost/sdk';
import { expressLogin } from '@signpost/sdk/express';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const secure = SITE.startsWith('https:');
const random = () => randomBytes(32).toString('base64url');
const hash = (password, salt) => scryptSync(password, salt, 32);
const newUser = (email, password, salt = random()) => ({ email, salt, hash: hash(password, salt), signpostId: undefined });
// Your table of accounts.
const users = new Map([
  [1, newUser('ann@shop.example', 'correct horse')],
  [2, newUser('bob@shop.example', 'battery staple')],
]);
const hasPassword = (user, password) => timingSafeEqual(user.hash, hash(String(password), user.salt));
const signpost = new Signpost(KEY, { baseUrl: API });
const userOf = (request) => users.get(request.session.userId);

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

/** Logs the user in, with a new session: the session from before the login is invalid. */
const logIn = (request, userId) => new Promise((resolve, reject) => {
  request.session.regenerate((error) => (error ? reject(error) : resolve(Object.assign(request.session, { userId }))));
});

app.use(
  expressLogin(signpost, {
    domain: DOMAIN,
    site: SITE,
    cookieSecret: process.env.COOKIE_SECRET || random(),
    async signIn({ user }, request) {
      // Registration is closed, so only users of this table exist.
      const [userId] = [...users].find(([, { signpostId }]) => signpostId === user.id) ?? [];
      if (!userId) throw new Error(`${user.id} has no account`);
      await logIn(request, userId);
    },
    currentUser: (request) => userOf(request)?.signpostId,
    // An account without keys gets the first key only within five minutes after its password.
    confirmRecent: (request) => Date.now() - (request.session.confirmedAt ?? 0) < 5 * 60_000,
  }),
);
app.use(express.urlencoded({ extended: false }));

app.post('/password', async (request, response) => {
  const { email, password = '' } = request.body;
  const [userId, user] = [...users].find(([, user]) => user.email === email) ?? [];
  if (!user || !hasPassword(user, password)) return response.status(403).send('The password is wrong.');
  await logIn(request, userId);
  response.redirect(303, '/');
});

app.post('/add-key', async (request, response) => {
  const user = userOf(request);
  if (!user || !hasPassword(user, request.body.password ?? '')) return response.status(403).send('The password is wrong.');
  user.signpostId ??= await signpostIdOf(request.session.userId);
  request.session.confirmedAt = Date.now();
  response.redirect(303, '/signpost/link?next=/');
});

/** Creates the user of an account at Signpost. A second click finds the user of the first. */
async function signpostIdOf(userId) {
  try {
    return (await signpost.users.create(DOMAIN, { external_id: String(userId) })).id;
  } catch (error) {
    if (!(error instanceof SignpostError) || error.code !== 'external_id_exists') throw error;
    return error.details.id;
  }
}

app.post('/logout', (request, response, next) => {
  request.session.destroy((error) => (error ? next(error) : response.redirect(303, '/')));
});

const password = '<input name="password" type="password">';
const form = (action, text) => `<form method="post" action="${action}">${text}</form>`;
app.get('/', (request, response) => {
  response.set('cache-control', 'no-store');
  const user = userOf(request);
  if (!user) {
    const logIn = form('/password', `<input name="email"> ${password} <button>Log in</button>`);
    return response.send(`${logIn} <a href="/signpost/login">Log in with a wallet or a passkey</a>`);
  }
  const addKey = form('/add-key', `Your password, again: ${password} <button>Add a key to your account</button>`);
  response.send(`You are <b id="user">${user.email}</b>. ${addKey} ${form('/logout', '<button>Log out</button>')}`);
});
app.listen(PORT, 'localhost');
