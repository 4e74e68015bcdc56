// The realm of a test: a hosted domain in the sandbox of the program that was just built, its clients and its users. Where
// `SIGNPOST_TEST_POSTGRES` says a database, three servers share it, with the Redis of `SIGNPOST_TEST_REDIS`.
import assert from 'node:assert/strict';
import { Server } from '../pages/server.mjs';
import { Wallet } from '../pages/wallets.mjs';
import { Fleet } from './fleet.mjs';
import { Person, attribute } from './person.mjs';

/** The one name that command-line wallets answer at this machine without asking the domain itself. */
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

  /** Registers a client: `{client_id, client_secret, issuer}`. `options` as `signpost clients create` takes them. */
  createClient(redirectUri, options = []) {
    return this.server.command('clients', 'create', '--domain', DOMAIN, '--sandbox', '--redirect-uri', redirectUri, ...options);
  }

  /** A command of the program on the data of its server. */
  command(...args) {
    return this.server.command(...args);
  }

  /** Somebody new with a browser and a wallet of their own. */
  person() {
    return this.personWith(++this.#wallets);
  }

  /** The owner of this wallet at another browser. */
  personWith(wallet) {
    const person = new Person(async (page) => (person.publicKey = await this.#answer(page, wallet)));
    person.wallet = wallet;
    return person;
  }

  /** Somebody new who scans the code of a page with the command-line wallet, and types the number beside it. */
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

  /** Who somebody is here, once they have answered a code. */
  async sub(person) {
    return (await this.server.ask('GET', `/domains/${this.domain.id}/users/${person.publicKey}`)).id;
  }

  /** What the operator says of a user. */
  describe(sub, { name, groups }) {
    return this.server.ask('PATCH', `/domains/${this.domain.id}/users/${sub}`, { name, groups });
  }

  /** The claims of a user, as far as the realm knows any. */
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
   * Answers the code of a login page by a wallet that the sandbox has; nobody has an account before the first
   * answer. Gives its public key.
   */
  async #answer(page, wallet) {
    const id = /\/sandbox\/login\/(sess_\w+)/.exec(page.url.pathname)?.[1];
    assert.ok(id, `no login page: ${page.url}`);
    const told = await this.server.ask('POST', `/sessions/${id}/simulate`, { wallet });
    assert.ok(told.status === 200 || told.status === 404, JSON.stringify(told));
    return told.public_key;
  }
}
