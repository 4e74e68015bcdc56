// A site that receives wallets' answers and stores its users; Signpost checks the signatures. Node 20 or newer.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Signpost } from '@signpost/sdk';
import { expressWallet } from '@signpost/sdk/express';
import { siteCookie } from '@signpost/sdk/login';

const { API, KEY, DOMAIN = 'localhost', PORT = '9000', SITE = `http://localhost:${PORT}` } = process.env;
const signpost = new Signpost(KEY, { baseUrl: API });
const users = new Map(); // by public key; a real site uses its database
const people = new Map(); // users by cookie
const loginCookie = siteCookie(SITE, 'site_login', 86_400); // over https no other host can set it

const wallets = expressWallet(signpost, {
  domain: DOMAIN,
  site: SITE,
  webhookSecrets: process.env.WEBHOOK_SECRET || undefined,
  findUser: (publicKey) => users.get(publicKey),
  createUser(publicKey) {
    if (users.has(publicKey)) return undefined; // another answer came first
    users.set(publicKey, { name: `user ${users.size + 1}` });
    return users.get(publicKey);
  },
  signIn({ user }) {
    const value = randomBytes(32).toString('base64url'); // a new value, never the value from before the login
    people.set(value, user);
    return [loginCookie.set(value)];
  },
  onEvent: ({ event, session_id }) => console.log(`${event} in ${session_id}`),
});

async function showCode(mode, next, response) {
  const { sid, qr_data, cookie } = await wallets.showCode({ mode, next: next ?? '/account' });
  const other = mode === 'login' ? '<a href="/register">New here? Register</a>' : '<a href="/">Registered? Log in</a>';
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'set-cookie': cookie });
  response.end(`<!doctype html><title>Log in</title><p>Scan this code with your wallet. It must ask about <b>${DOMAIN}</b>.</p>
    <div id="code" data-sid="${sid}">${await signpost.sessions.qrSvg(sid)}</div>
    <p><a id="link" href="${qr_data.replaceAll('&', '&amp;')}">Open the wallet on this device</a> · ${other}</p>
    <script>setInterval(async () => {
      const reply = await (await fetch('/signpost/poll?sid=${sid}')).json();
      if (reply.status === 'authenticated') location.replace(reply.redirect);
    }, 1000); setTimeout(() => location.reload(), 280_000);</script>`);
}

createServer((request, response) => wallets(request, response, async (error) => {
  const { pathname, searchParams } = new URL(request.url, SITE);
  const user = people.get(loginCookie.read(request.headers.cookie));
  try {
    if (error) throw error;
    if (pathname === '/') await showCode('login', searchParams.get('return_url'), response);
    else if (pathname === '/register') await showCode('register', searchParams.get('return_url'), response);
    else if (pathname === '/account') response.end(user ? `You are ${user.name}.` : 'You are not logged in.');
    else response.writeHead(404).end();
  } catch (fault) {
    console.error(fault);
    response.writeHead(502).end();
  }
})).listen(PORT, 'localhost');
