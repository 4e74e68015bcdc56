// A site with logins on Signpost's page. Node 18 or newer, no packages.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const logins = new Map(); // user IDs by cookie; a real site stores them in its database, with an expiry
const random = () => randomBytes(32).toString('base64url');
const [host, secure] = SITE.startsWith('https:') ? ['__Host-', '; Secure'] : ['', '']; // no other host can set __Host- cookies
function cookie(request, name) {
  const all = [...(request.headers.cookie ?? '').matchAll(new RegExp(`(?:^|; )${host}${name}=([^;]+)`, 'g'))];
  return all.length === 1 ? all[0][1] : undefined; // a duplicate may be from an attacker
}
const set = (pair) => `${host}${pair}; Path=/; HttpOnly; SameSite=Lax${secure}`;
const go = (location, ...cookies) => [303, { location, 'set-cookie': cookies.map(set) }];
const html = { 'content-type': 'text/html', 'cache-control': 'no-store' };
async function api(path, body) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const reply = await fetch(API + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { ok: reply.ok, ...await reply.json() };
}
async function login(request) {
  const secret = cookie(request, 'site_browser') ?? random(); // binds the login to this browser
  const browser_hash = createHash('sha256').update(secret).digest('base64url');
  const body = { domain: DOMAIN, flow: 'page', metadata: { return_url: `${SITE}/return` }, browser_hash };
  return go((await api('/sessions', body)).page_url, `site_browser=${secret}`);
}
async function comeBack(request, query) {
  const path = `/sessions/${encodeURIComponent(query.get('session_id'))}/complete`;
  const body = { code: query.get('code'), browser_secret: cookie(request, 'site_browser') };
  const session = body.code ? await api(path, body) : { ok: false };
  if (!session.ok) return go('/'); // cancelled, expired, or started in another browser
  const value = random(); // a new value prevents session fixation
  logins.set(value, session.user.id);
  return go('/', `site_login=${value}`, 'site_browser=; Max-Age=0');
}
const hello = (id) => (id ? `You are <b id="user">${id}</b>.` : '<a href="/login">Log in or create an account</a>');
const home = (request) => [200, html, hello(logins.get(cookie(request, 'site_login')))];
createServer((request, response) => {
  const [path, query] = request.url.split('?');
  const answer = { '/': home, '/login': login, '/return': comeBack, '/events': () => [204] }[path] ?? (() => [404]);
  Promise.resolve(answer(request, new URLSearchParams(query)))
    .then(([status, headers, text]) => response.writeHead(status, headers).end(text))
    .catch(() => response.writeHead(502).end());
}).listen(PORT, 'localhost');
