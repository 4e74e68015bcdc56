import type { Transport } from './transport.js';
import { at, everything } from './paging.js';
import type { Page } from './wire.js';

/** The method by which a confidential client sends its secret. */
export type ClientAuthMethod = 'client_secret_basic' | 'client_secret_post' | 'any';
/** The signing algorithm of a client's ID tokens. */
export type SigningAlgorithm = 'RS256' | 'ES256';
/** The claim of the scope `email`. */
export type EmailClaim = 'synthetic' | 'none' | 'verified';

/** An application that users of a hosted domain log in to by OpenID Connect. */
export interface Client {
  client_id: string;
  name?: string;
  /** The issuer, for the configuration of the application. */
  issuer: string;
  /** Whether the client has no secret. */
  public: boolean;
  redirect_uris: string[];
  post_logout_uris: string[];
  alg: SigningAlgorithm;
  email: EmailClaim;
  /** Whether authorization requests must use PKCE. */
  pkce: boolean;
  /** Whether the client requires no consent. */
  trusted: boolean;
  /** The users who may log in: `usr_…`, a public key, `group:NAME`, or `*`. */
  allow?: string[];
  token_endpoint_auth_method?: ClientAuthMethod;
  created_at: string;
  previous_secret_until?: string;
}

export interface ClientWithSecret extends Client {
  /** Only in this reply; absent for a public client. */
  client_secret?: string;
}

export interface ClientList {
  clients: Client[];
  next_cursor?: string;
}

/** null removes a member. */
export interface ClientChange {
  name?: string | null;
  redirect_uris?: string[];
  post_logout_uris?: string[];
  alg?: SigningAlgorithm;
  email?: EmailClaim;
  pkce?: boolean;
  trusted?: boolean;
  allow?: string[] | null;
  token_endpoint_auth_method?: ClientAuthMethod | null;
}

export interface NewClient extends ClientChange {
  redirect_uris: string[];
  /** true for a client that cannot store a secret. */
  public?: boolean;
}

export interface ClientRotation {
  /** Whether the previous secret expires at once. Default: false; it is accepted for 24 hours more. */
  now?: boolean;
}

/** The OpenID Connect clients of hosted domains. */
export class Clients {
  readonly #api: Transport;

  /** @internal */
  constructor(api: Transport) {
    this.#api = api;
  }

  /** Creates a client. Only this reply contains `client_secret`. */
  async create(domainId: string, client: NewClient): Promise<ClientWithSecret> {
    return this.#api.writeOnce('POST', at`/domains/${domainId}/clients`, client);
  }

  /** Returns a page of clients, oldest first. */
  async list(domainId: string, query: Page = {}): Promise<ClientList> {
    return this.#api.read(at`/domains/${domainId}/clients`, query);
  }

  /** Returns all clients, page by page. */
  all(domainId: string): AsyncGenerator<Client, void, undefined> {
    return everything((page) => this.list(domainId, page), (list) => list.clients);
  }

  async get(domainId: string, client: string): Promise<Client> {
    return this.#api.read(at`/domains/${domainId}/clients/${client}`);
  }

  async update(domainId: string, client: string, change: ClientChange): Promise<Client> {
    return this.#api.write('PATCH', at`/domains/${domainId}/clients/${client}`, change);
  }

  /** Replaces the secret. Only this reply contains the new `client_secret`. */
  async rotateSecret(domainId: string, client: string, rotation: ClientRotation = {}): Promise<ClientWithSecret> {
    return this.#api.writeOnce('POST', at`/domains/${domainId}/clients/${client}/rotate`, rotation);
  }

  /** Deletes a client and revokes its tokens. */
  async delete(domainId: string, client: string): Promise<void> {
    return this.#api.remove(at`/domains/${domainId}/clients/${client}`);
  }
}
