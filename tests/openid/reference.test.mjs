// The server's responses, compared with a certified provider's (npm `oidc-provider`): equal requests, equal responses,
// except for listed differences with a reason.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { timeout } from './journeys.mjs';
import { Realm } from './realm.mjs';
import { Reference } from './reference.mjs';

/** An unused address, which the test browser does not open. */
const CALLBACK = 'http://127.0.0.1:9/callback';
const VERIFIER = randomBytes(32).toString('base64url');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const providers = {};

before(async () => {
  const [realm, reference] = await Promise.all([Realm.open(), Reference.open({ redirect_uris: [CALLBACK] })]);
  providers.ours = { realm, client: await realm.createClient(CALLBACK), person: () => realm.person() };
  const { issuer } = reference;
  providers.theirs = { reference, client: { ...reference.client, issuer }, person: () => reference.person() };
  for (const provider of Object.values(providers)) {
    provider.document = await (await fetch(`${provider.client.issuer}/.well-known/openid-configuration`)).json();
  }
});
after(async () => {
  await providers.ours?.realm.close();
  providers.theirs?.reference.close();
});

/** The parameters of a valid authorization request. */
const good = (client) => ({
  client_id: client.client_id,
  redirect_uri: CALLBACK,
  response_type: 'code',
  scope: 'openid profile email',
  state: 'a state',
  nonce: 'a nonce',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
});

/** Returns the result of an authorization request: `page 400`, `login`, `code`, or the error that is sent to the site. */
async function authorize({ client, document, person }, changes, twice) {
  const parameters = { ...good(client), ...changes };
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined));
  if (twice) query.append(twice, parameters[twice]);
  const visitor = person();
  const until = (url) => url.href.startsWith(CALLBACK);
  const page = await visitor.open(`${document.authorization_endpoint}?${query}`, { until });
  // For an unsupported response type, the default response mode may be the fragment.
  const back = new URLSearchParams(page.url.search || page.url.hash.slice(1));
  if (!page.url.href.startsWith(CALLBACK)) return { led: `page ${page.status}` };
  assert.equal(back.get('iss'), client.issuer);
  assert.equal(back.get('state'), twice === 'state' ? null : (parameters.state ?? null));
  const code = visitor.met.includes('login') ? 'code after a login' : 'code';
  return { led: back.get('error') ?? code, code: back.get('code') };
}

/** Returns an endpoint's response: status, error, and whether it forbids caching. */
async function post({ client, document }, endpoint, form, { secret = client.client_secret, basic = true } = {}) {
  const encoded = [client.client_id, secret].map(encodeURIComponent).join(':');
  const headers = basic ? { authorization: `Basic ${Buffer.from(encoded).toString('base64')}` } : {};
  const entries = Object.entries(form).filter(([, value]) => value !== undefined);
  const reply = await fetch(document[endpoint], { method: 'POST', headers, body: new URLSearchParams(entries) });
  const text = await reply.text();
  const body = text ? JSON.parse(text) : {};
  return { result: `${reply.status} ${body.error ?? 'ok'}`, stored: !/no-store/.test(reply.headers.get('cache-control')), body };
}

/** Checks that both responses are equal; if not, both are listed, with the reason. */
async function compare(ask, differs) {
  const [ours, theirs] = [await ask(providers.ours), await ask(providers.theirs)];
  if (differs) assert.deepEqual({ ours, theirs, why: differs.why }, differs);
  else assert.deepEqual(ours, theirs);
}

/** Compares the names that only a single provider has. */
async function compareNames(ask, { ours, theirs }) {
  const [all, others] = [await ask(providers.ours), await ask(providers.theirs)].map((value) => Object.keys(value).sort());
  assert.deepEqual(all.filter((name) => !others.includes(name)), ours);
  assert.deepEqual(others.filter((name) => !all.includes(name)), theirs);
}

const SCOPE = { ours: 'invalid_scope', theirs: 'invalid_request', why: 'unspecified; this server names the invalid parameter' };
const invalid = (ours, theirs, why) => ({ ours: { result: ours, stored: false }, theirs: { result: theirs, stored: false }, why });

/** Changes of a valid authorization request, and the differences of the responses. */
const AUTHORIZE = {
  'a valid request': [{}],
  'an unknown client': [{ client_id: 'cli_nobody' }],
  'no client': [{ client_id: undefined }],
  'another redirect URI': [{ redirect_uri: `${CALLBACK}/else` }],
  'a redirect URI with a query': [{ redirect_uri: `${CALLBACK}?more` }],
  'no response type': [{ response_type: undefined }],
  'a response type that is not offered': [{ response_type: 'token' }],
  'no scope': [{ scope: undefined }, SCOPE],
  'a scope without openid': [{ scope: 'profile' }, SCOPE],
  'an unknown scope': [{ scope: 'openid other' }],
  'no state': [{ state: undefined }],
  'no nonce': [{ nonce: undefined }],
  'no challenge': [{ code_challenge: undefined, code_challenge_method: undefined }],
  'a challenge method without a challenge': [{ code_challenge: undefined }],
  'the method plain': [{ code_challenge_method: 'plain' }],
  'a challenge without a method': [{ code_challenge_method: undefined }],
  'a challenge that is too short': [{ code_challenge: 'short' }],
  'prompt none': [{ prompt: 'none' }],
  'prompt none and login': [{ prompt: 'none login' }],
  'prompt of another kind': [{ prompt: 'other' }],
  'max_age below zero': [{ max_age: '-1' }],
  'max_age that is not a number': [{ max_age: 'old' }],
  'response_mode query': [{ response_mode: 'query' }],
  'response_mode of another kind': [
    { response_mode: 'other' },
    { ours: 'invalid_request', theirs: 'unsupported_response_mode', why: 'the reference uses a non-standard code' },
  ],
  'a request object': [{ request: 'eyJhbGciOiJub25lIn0.e30.' }],
  'a request object elsewhere': [{ request_uri: 'https://shop.example/request' }],
  'a hint that is not a token': [{ id_token_hint: 'hint' }],
  'display, locales, a hint of a name': [{ display: 'popup', ui_locales: 'es en', claims_locales: 'es', login_hint: 'ada' }],
  'acr_values that are not met': [{ acr_values: 'urn:example:other' }],
  'an unknown parameter': [{ another: 'value' }],
};

for (const [name, [changes, differs]] of Object.entries(AUTHORIZE)) {
  test(`authorize: ${name}`, { timeout }, () => compare(async (provider) => (await authorize(provider, changes)).led, differs));
}
const TWICE = {
  scope: undefined,
  state: undefined,
  client_id: undefined,
  redirect_uri: { ours: 'page 400', theirs: 'invalid_request', why: 'this server does not redirect to an ambiguous URI' },
};
for (const [name, differs] of Object.entries(TWICE)) {
  test(`authorize: two of ${name}`, { timeout }, () => compare(async (provider) => (await authorize(provider, {}, name)).led, differs));
}

/** Returns an authorization code of a provider. */
const code = async (provider, changes = {}) => (await authorize(provider, changes)).code;
const exchanging = async (provider, changes) => ({
  grant_type: 'authorization_code',
  code: await code(provider),
  redirect_uri: CALLBACK,
  code_verifier: VERIFIER,
  ...changes,
});
const withoutBody = ({ result, stored }) => ({ result, stored });

/** Changes of a valid token request, and of its client authentication. */
const TOKEN = {
  'a valid request': [{}],
  'no grant type': [{ grant_type: undefined }],
  'a grant type that is not offered': [{ grant_type: 'password' }],
  'no code': [{ code: undefined }],
  'another code': [{ code: 'another' }],
  'no verifier': [{ code_verifier: undefined }],
  'another verifier': [{ code_verifier: randomBytes(32).toString('base64url') }],
  'a verifier that is too short': [
    { code_verifier: 'short' },
    {},
    invalid('400 invalid_grant', '400 invalid_request', 'it does not match the challenge (RFC 7636, 4.6)'),
  ],
  'no redirect URI': [
    { redirect_uri: undefined },
    {},
    invalid('400 invalid_request', '200 ok', 'it was sent to authorize, so it is required (RFC 6749, 4.1.3)'),
  ],
  'another redirect URI': [{ redirect_uri: `${CALLBACK}/else` }],
  'another secret': [{}, { secret: 'another' }],
  'no client authentication': [
    {},
    { basic: false },
    invalid('401 invalid_client', '400 invalid_request', 'no client authentication is among its reasons (RFC 6749, 5.2)'),
  ],
  'an unknown refresh token': [{ grant_type: 'refresh_token', refresh_token: 'another' }],
  'no refresh token': [{ grant_type: 'refresh_token' }],
};

for (const [name, [changes, who, differs]] of Object.entries(TOKEN)) {
  test(`token: ${name}`, { timeout }, () =>
    compare(async (provider) => withoutBody(await post(provider, 'token_endpoint', await exchanging(provider, changes), who)), differs));
}

test('token: a repeated code', { timeout }, () =>
  compare(async (provider) => {
    const form = await exchanging(provider);
    const first = await post(provider, 'token_endpoint', form);
    const second = await post(provider, 'token_endpoint', form);
    const info = await fetch(provider.document.userinfo_endpoint, { headers: { authorization: `Bearer ${first.body.access_token}` } });
    return [first.result, second.result, info.status];
  }));

test('userinfo: no token, another token', { timeout }, () =>
  compare(async (provider) => {
    const results = [];
    for (const headers of [{}, { authorization: 'Bearer another' }]) {
      const reply = await fetch(provider.document.userinfo_endpoint, { headers });
      results.push([reply.status, /error="(\w+)"/.exec(reply.headers.get('www-authenticate'))?.[1]]);
    }
    return results;
  }));

test('revoke and introspect: an unknown token and client', { timeout }, () =>
  compare(async (provider) => {
    const revoked = await post(provider, 'revocation_endpoint', { token: 'another' });
    const active = await post(provider, 'introspection_endpoint', { token: 'another' });
    const without = await post(provider, 'introspection_endpoint', { token: undefined });
    const stranger = await post(provider, 'introspection_endpoint', { token: 'another' }, { secret: 'another' });
    return [revoked.result, active.result, active.body, without.result, stranger.result];
  }));

/** Returns a part of an ID token of a valid login. */
async function idToken(provider, part) {
  const { body } = await post(provider, 'token_endpoint', await exchanging(provider));
  assert.deepEqual([body.token_type, body.scope], ['Bearer', 'openid profile email']);
  return JSON.parse(Buffer.from(body.id_token.split('.')[part], 'base64url'));
}

test('ID tokens have equal members', { timeout }, async () => {
  await compareNames((provider) => idToken(provider, 0), { ours: ['typ'], theirs: [] });
  const more = ['acr', 'amr', 'at_hash', 'auth_time', 'groups', 'nickname', 'preferred_username', 'sid'];
  await compareNames((provider) => idToken(provider, 1), { ours: more, theirs: [] });
  await compare(async (provider) => {
    const { aud, nonce, iss } = await idToken(provider, 1);
    return [aud === provider.client.client_id, nonce, iss === provider.client.issuer];
  });
});

test('discovery documents have equal members', { timeout }, () =>
  compareNames(async ({ document }) => document, {
    ours: [
      'acr_values_supported',
      'introspection_endpoint_auth_methods_supported',
      'prompt_values_supported',
      // Its default is false; the default for request_uri is true.
      'request_parameter_supported',
      'revocation_endpoint_auth_methods_supported',
      'ui_locales_supported',
    ],
    theirs: [
      'dpop_signing_alg_values_supported',
      'pushed_authorization_request_endpoint',
      'token_endpoint_auth_signing_alg_values_supported',
    ],
  }));
