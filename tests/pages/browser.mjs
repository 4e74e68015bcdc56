// Debian's Chromium without a window, which takes half the processor time of the one with windows. And what no page may do
// in it, whatever a test is about: break its policy, write an error to the console, ask another host, be wider than the
// screen.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

/** A machine that builds beside the tests is five times as slow. */
export const PATIENCE = 60_000;
export const WIDE = { width: 1100, height: 800 };
export const NARROW = { width: 390, height: 844 };
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';

/** Starts the browser; a site's hosts below `.test` are this machine. `more`: further switches. */
export function launch(more = []) {
  const args = [...more, '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--no-first-run', '--disable-gpu', '--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1'];
  return chromium.launch({ executablePath: CHROMIUM, args, chromiumSandbox: process.getuid() !== 0 });
}

/** A person with a browser of their own: no cookie of anybody else's. */
export class Visitor {
  /** `origins`: all that may be asked. `expected`: console errors that belong to the test. */
  static async arrive(browser, origins, { expected = [], ...options } = {}) {
    const visitor = Object.assign(new Visitor(), { faults: [], origins, expected });
    visitor.context = await browser.newContext({ locale: 'en-US', viewport: WIDE, reducedMotion: 'reduce', ...options });
    visitor.context.setDefaultTimeout(PATIENCE);
    await visitor.#watch();
    return visitor;
  }

  /** Opens an address in a tab, at once or after the page asked for it. */
  async open(address, options) {
    const page = await this.context.newPage();
    await page.goto(address, options);
    return page;
  }

  /** What the page asks at this address of the login comes to nothing from now on. */
  lose(address) {
    return this.context.route(`**/login/*/${address}`, (route) => route.abort('connectionfailed'));
  }

  /** Nothing that a page may not do has happened. */
  check() {
    const unexpected = this.faults.filter((fault) => !this.expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(unexpected, []);
  }

  async leave() {
    await this.context.close();
    this.check();
  }

  async #watch() {
    const fault = (text) => this.faults.push(text);
    await this.context.exposeBinding('reportViolation', (_, text) => fault(`policy: ${text}`));
    await this.context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        window.reportViolation(`${event.violatedDirective} ${event.blockedURI} on ${location.pathname}`);
      });
    });
    this.context.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && !this.origins.includes(origin)) fault(`foreign host: ${request.url()}`);
    });
    this.context.on('weberror', (error) => fault(`script: ${error.error()}`));
    this.context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) fault(`console: ${message.text()} ${message.location().url}`);
    });
  }
}

/**
 * A tab that goes to these addresses never reaches the site, and ends on a page of ours. A request that fails would leave
 * Chromium's page for errors, which asks anew after a second, and what it asks while its tab is closed reaches the site.
 */
export function heldBack(page, addresses) {
  return page.route(addresses, (route) => route.fulfill({ contentType: 'text/plain', body: 'held back' }));
}

/** Waits until the login page is in a state; the words of its `<main>`. */
export async function state(page, name) {
  const main = page.locator(`main[data-state="${name}"]`);
  await main.waitFor().catch(async (error) => {
    throw new Error(`not ${name} but ${await page.locator('main').getAttribute('data-state').catch(() => page.url())}`, { cause: error });
  });
  return main;
}

/** What the page gives a wallet; a code that ended on a busy machine is no link, and another follows. */
export async function codeOf(page) {
  const code = await page.locator('a[rel="signpost-code"][href]').first().getAttribute('href');
  return { code, number: await page.locator('output#number').textContent() };
}

export const lightningOf = (page) => page.locator('a[rel="signpost-lightning"]').first().getAttribute('href');

/** What the site says once the browser is back. */
export async function back(page) {
  const main = page.locator('main[data-site]');
  await main.waitFor();
  return main.getAttribute('data-site');
}
