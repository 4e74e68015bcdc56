// A site with logins on its own page, with <signpost-login>. Node 18 or newer, no packages.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { API, KEY, DOMAIN = 'localhost', PORT = '9001', SITE = `http://localhost:${PORT}` } = process.env;
const SIGNPOST = new URL(API).origin;
const page = readFileSync(new URL('page.html', import.meta.url), 'utf8').replace('{SIGNPOST}', SIGNPOST).replace('{API}', API);
// The page loads only from its own site and Signpost. The element needs no inline styles and no images.
const policy = `default-src 'none'; script-src 'self' ${SIGNPOST}; connect-src 'self' ${SIGNPOST}; style-src 'self'; img-src data:`;
const html = { 'content-type': 'text/html', 'cache-control': 'no-store', 'content-security-policy': policy };
const [shown, logins] = [new Map(), new Map()]; // session IDs by browser, user IDs by cookie; a real site has a database
const random = () => randomBytes(32).toString('base64url');
const [host, secure] = SITE.startsWith('https:') ? ['__Host-', '; Secure'] : ['', '']; // no other host can set __Host- cookies
function cookie(request, name) {
  const all = [...(request.headers.cookie ?? '').matchAll(new RegExp(`(?:^|; )${host}${name}=([^;]+)`, 'g'))];
  return all.length === 1 ? all[0][1] : undefined; // a duplicate may be from an attacker
}
const set = (name, value) => ({ 'set-cookie': `${host}${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}` });
async function api(path, body) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const reply = await fetch(API + path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) });
  return reply.json();
}
/** Creates the session that the element requests, and binds it to this browser. */
async function open(request, mode) {
  const session = await api('/sessions', { domain: DOMAIN, mode, confirm: 'code' });
  const browser = random();
  shown.set(browser, session.id);
  return [200, { 'content-type': 'application/json', ...set('site_browser', browser) }, JSON.stringify(session)];
}
/** Logs in the browser after the element reports an answer: only this server can read the user. */
async function complete(request) {
  const browser = cookie(request, 'site_browser');
  const session = shown.has(browser) ? await api(`/sessions/${shown.get(browser)}`) : {};
  if (session.status !== 'authenticated') return [303, { location: '/' }];
  shown.delete(browser);
  const value = random(); // a new value prevents session fixation
  logins.set(value, session.user.id);
  return [303, { location: '/', ...set('site_login', value) }];
}
function home(request, mode) {
  const user = logins.get(cookie(request, 'site_login'));
  if (user) return [200, html, `<!doctype html><title>Home</title>You are <b id="user">${user}</b>.`];
  return [200, html, page.replace('{MODE}', mode)];
}
const file = (type, text) => () => [200, { 'content-type': type }, text];
const style = 'body { font: 1rem/1.5 system-ui; margin: 2rem } :focus-visible { outline: 3px solid }';
const script = "addEventListener('signpost-login', () => location.assign('/in'));";
const routes = {
  'GET /': (request) => home(request, 'login'), 'GET /register': (request) => home(request, 'register'),
  'POST /login': (request) => open(request, 'login'), 'POST /register': (request) => open(request, 'register'),
  'GET /in': complete, 'GET /site.js': file('text/javascript', script), 'GET /site.css': file('text/css', style),
  'POST /events': () => [204], // this site polls, and needs no events
};
createServer((request, response) => {
  const route = routes[`${request.method} ${request.url}`] ?? (() => [404]);
  Promise.resolve(route(request)).then(([status, headers, text]) => response.writeHead(status, headers).end(text))
    .catch(() => response.writeHead(502).end());
}).listen(PORT, 'localhost');
