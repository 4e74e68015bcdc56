// The fixture of a test file: a server, a browser, sites, and users with checked pages.
import { after, afterEach, before } from 'node:test';
import { Visitor, codeOf, launch, state } from './browser.mjs';
import { Server } from './server.mjs';
import { Site } from './site.mjs';
import { Wallet } from './wallets.mjs';

export class Stage {
  sites = [];
  visitors = [];
  wallets = new Map();

  /** Opens a stage before the tests of a file and closes it after them. `settings` are the server's; `prepare` comes next. */
  static set(settings, prepare) {
    const stage = new Stage();
    before(async () => {
      await stage.open(settings);
      await prepare?.(stage);
    });
    afterEach(() => stage.clear());
    after(() => stage.close());
    return stage;
  }

  /** Opens a stage for a test that changes its server. */
  static async own(t, settings) {
    const stage = new Stage();
    t.after(async () => {
      try {
        await stage.clear();
      } finally {
        await stage.close();
      }
    });
    await stage.open(settings);
    return stage;
  }

  async open(settings) {
    // If one of them does not start, `close` ends the other.
    const opened = await Promise.allSettled([Server.start(settings), launch()]);
    [this.server, this.browser] = opened.map(({ value }) => value);
    const failed = opened.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Closes all browsers; fails if a page violated a rule. */
  async clear() {
    const gone = await Promise.allSettled(this.visitors.splice(0).map((visitor) => visitor.leave()));
    const failed = gone.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async close() {
    await Promise.all(this.sites.map((site) => site.close()));
    await Promise.all([this.browser?.close(), this.server?.close()]);
  }

  /** Returns the site of an account, opened at its first use. */
  async site(account = 'default', options = {}) {
    const open = this.sites.find((site) => site.who.account === account);
    if (open) return open;
    const site = await Site.open(this.server, { ...options, account });
    this.sites.push(site);
    return site;
  }

  /** Returns a user's wallet; registers it at the site, if given. */
  async wallet(name, site) {
    const wallet = this.wallets.get(name) ?? (await Wallet.make(this.server));
    this.wallets.set(name, wallet);
    if (site) await this.#register(wallet, site);
    return wallet;
  }

  async visitor(options) {
    const origins = [this.server.origin, ...this.sites.map((site) => site.origin)];
    const visitor = await Visitor.arrive(this.browser, origins, options);
    this.visitors.push(visitor);
    return visitor;
  }

  /** Opens a browser at a pending login page: `{visitor, page, session}`. */
  async atLogin(site, { mode = 'login', ...options } = {}) {
    const visitor = await this.visitor(options);
    const page = await visitor.open(`${site.origin}/${mode}`);
    await state(page, 'waiting');
    return { visitor, page, session: site.last };
  }

  /** Creates a user without a page. */
  async #register(wallet, site) {
    if ((await site.users()).users.some((user) => user.public_key === wallet.publicKey)) return;
    const visitor = await this.visitor();
    const page = await visitor.open(`${site.origin}/register`);
    const { code, number } = await codeOf(page);
    await wallet.scan(code, number);
    await page.locator('main[data-site^="in "]').waitFor();
    await page.close();
  }
}
