// Programs are typed without annotations.
import express, { type Request, type Response } from 'express';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { Signpost, SignpostError, webhooks, type ErrorCode, type ServiceErrorCode, type SignpostEvent } from '@signpost/sdk';
import { expressLogin, expressWallet } from '@signpost/sdk/express';
import { fastifyLogin, fastifyWallet } from '@signpost/sdk/fastify';
import { loginHandlers, type Login } from '@signpost/sdk/login';
import { walletHandlers } from '@signpost/sdk/wallet';

const signpost = new Signpost('svc_test_x', { baseUrl: 'http://localhost:8080/sandbox/v1', timeout: 10, retries: 1 });
const common = { domain: 'localhost', site: 'http://localhost:9001', cookieSecret: 'c'.repeat(32) };

const app = express();
app.use(
  expressLogin(signpost, {
    ...common,
    signIn(login: Login, request: Request, response: Response) {
      response.cookie('a', login.user.id + request.ip);
    },
    currentUser: (request) => request.get('x-user'),
  }),
);
// Without annotations, the request is the used part of a node:http request.
app.use(expressLogin(signpost, { ...common, signIn: ({ user, next }) => [`a=${user.id}${user.groups?.length}${user.isNew}${next.length}`] }));
const wallets = expressWallet(signpost, {
  ...common,
  findUser: (publicKey) => (publicKey === '02' ? { name: 'Ada' } : undefined),
  createUser: (_publicKey, device) => ({ name: device.platform ?? 'somebody' }),
  signIn: ({ user }, _request: Request, response: Response) => void response.cookie('a', user.name),
});
app.use(wallets);
export const code: Promise<{ qr_data: string; cookie: string }> = wallets.showCode({ mode: 'register' });

const server = fastify();
server.register(fastifyLogin(signpost, { ...common, signIn: (login, request: FastifyRequest, reply: FastifyReply) => void reply.header('a', login.user.id + request.ip) }));
server.register(fastifyWallet(signpost, { ...common, findUser: () => 1, createUser: () => 2, signIn: ({ user }) => [`a=${user.toFixed()}`] }));

export const GET = async (request: globalThis.Request): Promise<globalThis.Response> =>
  (await loginHandlers(signpost, { ...common, signIn: async () => ({ cookies: ['a=b'] }) }).handle(request)) ?? new globalThis.Response();
walletHandlers(signpost, { ...common, findUser: async () => null, createUser: () => undefined, signIn: () => undefined });

export async function receive(body: Uint8Array, headers: Record<string, string | string[] | undefined>): Promise<string> {
  const event: SignpostEvent = await webhooks.verify(body, headers, ['whsec_a', 'whsec_b']);
  // @ts-expect-error a test has no key
  event.data.public_key?.trim();
  switch (event.event) {
    case 'login': case 'register': case 'link':
      return event.data.public_key;
    case 'user.updated':
      return Object.keys(event.data.changes ?? {}).join();
    case 'user.deleted': case 'credential.added': case 'credential.removed': case 'user.signed_out':
      return event.data.user_id;
    case 'test':
      return event.session_id;
  }
}

export async function call(): Promise<void> {
  const session = await signpost.sessions.create({ domain: 'a', flow: 'page' }, { idempotencyKey: 'order-7' });
  const status: 'pending' = session.status;
  // @ts-expect-error only domain is required, and it is
  await signpost.sessions.create({});
  // @ts-expect-error there is no such flow
  await signpost.sessions.create({ domain: 'a', flow: 'popup' });
  // @ts-expect-error the page may be missing
  const page: string = session.page_url;
  for await (const user of signpost.users.all('dom_1')) user.credentials.map((credential) => credential.kind === 'passkey');
  try {
    const { atms, notice, advisories = [] } = await signpost.atms.nearest({ location: 'Miami, FL' });
    console.log(atms[0]?.distanceMeters, notice, advisories[0]?.sourceUrl, status, page);
  } catch (error) {
    if (error instanceof SignpostError) console.log(error.code, error.status?.toFixed(), error.details['reason'], error.requestId, error.retryAfter);
  }
}

export function explain(error: SignpostError): string {
  const code: ErrorCode | (string & {}) = error.code;
  const known: ServiceErrorCode = 'session_expired';
  // @ts-expect-error there is no such code
  const misspelt: ErrorCode = 'session_expird';
  return code === known ? 'too late' : misspelt;
}

// @ts-expect-error the user is an object
loginHandlers(signpost, { ...common, signIn: ({ user }) => [`a=${user.trim()}`] });
loginHandlers(signpost, { ...common, signIn: () => [], signOut: () => ['a='], onError: (_error, step) => step === 'return', startupCheck: false });
// @ts-expect-error an option that does not exist
new Signpost('k', { baseURL: 'https://a.example/v1' });
