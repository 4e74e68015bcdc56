// A certified provider, with the pages that the test user can handle: its responses are compared with the server's.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { Person } from './person.mjs';

const USER = 'usr_reference';

export class Reference {
  #answered = new Set();
  #provider;
  #callback;

  /** Starts a provider with this client. */
  static async open(client) {
    const reference = new Reference();
    reference.http = createServer((request, response) => reference.#serve(request, response));
    await new Promise((resolve) => reference.http.listen(0, '127.0.0.1', resolve));
    reference.issuer = `http://localhost:${reference.http.address().port}`;
    reference.client = { client_id: 'reference', client_secret: 'a secret for tests only', ...client };
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    reference.#provider = new Provider(reference.issuer, {
      clients: [{ ...reference.client, grant_types: ['authorization_code', 'refresh_token'] }],
      findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, name: 'Ada', email: 'ada@shop.example' }) }),
      claims: { profile: ['name', 'nickname', 'preferred_username'], email: ['email'] },
      conformIdTokenClaims: false,
      cookies: { keys: ['for tests only'] },
      features: {
        devInteractions: { enabled: false },
        introspection: { enabled: true, allowedPolicy: () => true },
        revocation: { enabled: true, allowedPolicy: () => true },
      },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] },
    });
    reference.#callback = reference.#provider.callback();
    return reference;
  }

  person() {
    return new Person((page) => this.#answered.add(page.url.pathname));
  }

  close() {
    this.http.closeAllConnections();
    this.http.close();
  }

  async #serve(request, response) {
    if (!request.url.startsWith('/interaction/')) return this.#callback(request, response);
    const { prompt, params, session } = await this.#provider.interactionDetails(request, response);
    const finish = (result) => this.#provider.interactionFinished(request, response, result);
    if (prompt.name === 'login') {
      if (this.#answered.has(request.url)) return finish({ login: { accountId: USER } });
      return response.end('<main id="main" data-state="waiting"></main>');
    }
    const grant = new this.#provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    return finish({ consent: { grantId: await grant.save() } });
  }
}
