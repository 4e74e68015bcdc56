// The tenant of a test: a hosted domain in the sandbox of the built program, its clients and its users. If
// `SIGNPOST_TEST_POSTGRES` names a database, three servers share it, with the Redis of `SIGNPOST_TEST_REDIS`.
import assert from 'node:assert/strict';
import { Server } from '../pages/server.mjs';
import { Wallet } from '../pages/wallets.mjs';
import { Fleet } from './fleet.mjs';
import { Person, attribute } from './person.mjs';

/** The only domain that command-line wallets on this machine accept without a check of the domain. */
const DOMAIN = 'localhost';

export class Realm {
  #wallets = 0;

  static async open() {
    const realm = new Realm();
    const { SIGNPOST_TEST_POSTGRES: postgres, SIGNPOST_TEST_REDIS: redis } = process.env;
    const settings = { SERVICES: 'auth' };
    realm.running = postgres ? await Fleet.start(postgres, redis, settings) : await Server.start(settings);
    realm.server = postgres ? realm.running.servers[0] : realm.running;
    try {
      realm.domain = await realm.server.host(DOMAIN, 'https://wallet.example/');
    } catch (error) {
      await realm.close();
      throw error;
    }
    return realm;
  }

  close() {
    return this.running.close();
  }

  /** Registers a client: `{client_id, client_secret, issuer}`. `options` are those of `signpost clients create`. */
  createClient(redirectUri, options = []) {
    return this.server.command('clients', 'create', '--domain', DOMAIN, '--sandbox', '--redirect-uri', redirectUri, ...options);
  }

  /** Runs a command of the program on the data of its server. */
  command(...args) {
    return this.server.command(...args);
  }

  /** Creates a user with a new browser and a new wallet. */
  person() {
    return this.personWith(++this.#wallets);
  }

  /** Returns the owner of this wallet, at another browser. */
  personWith(wallet) {
    const person = new Person(async (page) => (person.publicKey = await this.#answer(page, wallet)));
    person.wallet = wallet;
    return person;
  }

  /** Creates a user who scans the code of a page with the command-line wallet, and types the page's number. */
  async scanner() {
    const wallet = await Wallet.make(this.server);
    const person = new Person(async (page) => {
      const code = /<a [^>]*rel="signpost-code"[^>]*>/.exec(page.text)[0];
      const number = /<output [^>]*id="number"[^>]*>(\d+)</.exec(page.text)[1];
      await wallet.scan(attribute(code, 'href'), number);
    });
    person.publicKey = wallet.publicKey;
    return person;
  }

  /** Returns the subject of a user after the answer to a code. */
  async sub(person) {
    return (await this.server.ask('GET', `/domains/${this.domain.id}/users/${person.publicKey}`)).id;
  }

  /** Sets a user's name and groups. */
  describe(sub, { name, groups }) {
    return this.server.ask('PATCH', `/domains/${this.domain.id}/users/${sub}`, { name, groups });
  }

  /** Returns the claims of a user. */
  async claims(sub) {
    const user = await this.server.ask('GET', `/domains/${this.domain.id}/users/${sub}`);
    const { petname } = user;
    return {
      sub,
      preferred_username: petname,
      nickname: petname,
      name: user.name ?? petname,
      email: `${sub}@${DOMAIN}`,
      groups: user.groups ?? [],
    };
  }

  /**
   * Answers the code of a login page with a wallet of the sandbox, which creates the account with its first answer. Returns
   * the public key.
   */
  async #answer(page, wallet) {
    const id = /\/sandbox\/login\/(sess_\w+)/.exec(page.url.pathname)?.[1];
    assert.ok(id, `no login page: ${page.url}`);
    const reply = await this.server.ask('POST', `/sessions/${id}/simulate`, { wallet });
    assert.ok(reply.status === 200 || reply.status === 404, JSON.stringify(reply));
    return reply.public_key;
  }
}
