// The requirements of every runtime: call the service, verify an event, redirect a browser to the login page.
import { Signpost, webhooks } from '../dist/index.js';
import { loginHandlers } from '../dist/login.js';

const check = (holds, what) => {
  if (!holds) throw new Error(what);
};

export async function smoke({ API, KEY }) {
  const signpost = new Signpost(KEY, { baseUrl: API });
  const domain = (await signpost.domains.list()).domains[0];
  const login = loginHandlers(signpost, { domain: domain.domain, site: 'http://localhost:9001', cookieSecret: 'c'.repeat(32), signIn: () => [] });
  const reply = await login.handle(new Request('http://localhost:9001/signpost/login'));
  check(reply.status === 303 && reply.headers.get('location').includes('/login/sess_'), `the start is ${reply.status}`);
  check(/^signpost-[0-9a-f]{16}=v1\./.test(reply.headers.getSetCookie()[0]), 'the start has no state');
  const returned = new Request('http://localhost:9001/signpost/return?session_id=sess_x&code=c');
  check((await login.handle(returned)).headers.get('location') === '/?login_error=other_browser', 'a foreign return is taken');

  const secret = `whsec_${btoa('a'.repeat(32))}`;
  const body = '{"event":"test","timestamp":"","session_id":""}';
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const tag = new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(body)));
  const headers = { 'X-Svc-Signature': Array.from(tag, (byte) => byte.toString(16).padStart(2, '0')).join('') };
  check((await webhooks.verify(body, headers, secret)).event === 'test', 'an event is not verified');
  check((await webhooks.verify(`${body} `, headers, secret).catch((error) => error)).code === 'invalid_signature', 'a forged event is taken');
  check((await new Signpost('k', { baseUrl: 'http://127.0.0.1:9', retries: 0 }).domains.list().catch((error) => error)).code === 'connection_failed', 'nothing is there');
  check((await signpost.atms.nearest({ location: 'Miami, FL', limit: 1 })).atms.length === 1, 'no machine');
  return 'ok';
}

// A worker calls it for each request.
if (globalThis.navigator?.userAgent !== 'Cloudflare-Workers') console.log(await smoke(globalThis.Deno?.env.toObject() ?? process.env));
