// The tasks of sdk/README.md, so that they are compiled.
import { Signpost, SignpostError, webhooks } from '@signpost/sdk';
import { loginHandlers, siteCookie } from '@signpost/sdk/login';

const people = new Map<string, string>(); // users by cookie; a real site uses its database, with an expiry
const loginCookie = siteCookie('http://localhost:9001', 'login', 86_400); // over https, no other host can set it

/** Returns a new value for the site's login cookie, never the value from before the login. */
async function startLogin(user: string): Promise<string> {
  const value = crypto.randomUUID();
  people.set(value, user);
  return value;
}

/** Returns the user of the site's cookie. */
function findLogin(cookies: string | null): string | undefined {
  return people.get(loginCookie.read(cookies) ?? '');
}

const signpost = new Signpost(process.env.KEY, { baseUrl: 'http://localhost:8080/sandbox/v1' });

const logins = loginHandlers(signpost, {
  domain: 'localhost',
  site: 'http://localhost:9001',
  cookieSecret: process.env.COOKIE_SECRET ?? '', // 32 characters or more, identical on all servers of the site
  webhookSecrets: process.env.WEBHOOK_SECRET,
  signIn: async ({ user }) => [loginCookie.set(await startLogin(user.id))],
  currentUser: (request) => findLogin(request.headers.get('cookie')),
  onEvent: ({ event, session_id }) => console.log(event, session_id),
});

export default { fetch: async (request: Request) => (await logins.handle(request)) ?? new Response('Not found', { status: 404 }) };

export async function addKey(domainId: string, user: string): Promise<boolean> {
  const { credentials } = await signpost.users.get(domainId, user);
  const hasOneKey = credentials.length === 1;
  return hasOneKey;
}

export async function receiveEvent(request: Request, secrets: string[]): Promise<void> {
  const event = await webhooks.verify(await request.text(), request.headers, secrets);
  console.log(event.id);
}

export async function showCode(): Promise<void> {
  const session = await signpost.sessions.create({ domain: 'localhost', confirm: 'code' });
  console.log(await signpost.sessions.qrSvg(session.id), session.confirm_code);
  const answered = await signpost.sessions.wait(session.id, { timeout: 120 });
  if (answered.status === 'authenticated') console.log(answered.user?.id);
}

export async function listUsers(): Promise<void> {
  for await (const { id, domain } of signpost.domains.all()) {
    for await (const user of signpost.users.all(id)) console.log(domain, user.petname, user.last_login_at);
  }
}

export async function handleErrors(): Promise<void> {
  try {
    await signpost.sessions.create({ domain: 'shop.exmaple' });
  } catch (error) {
    if (!(error instanceof SignpostError)) throw error;
    console.error(error.code, error.status, error.details, error.requestId); // domain_not_registered 422 …
  }
}

export async function findAtms(): Promise<void> {
  const { atms, notice, advisories } = await signpost.atms.nearest({ location: 'Miami, FL', limit: 3 });
  for (const atm of atms) console.log(atm.distance, atm.name, atm.status, atm.address);
  for (const { text } of advisories ?? []) console.log(text);
  console.log(notice, signpost.atms.mcpUrl);
}
