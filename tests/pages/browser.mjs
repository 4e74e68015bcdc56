// Debian's Chromium in headless mode, which needs half the processor time. After each test it checks the rules for all
// pages: no violation of their policy, no console errors, no requests to other hosts, no horizontal overflow.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

/** A machine with a concurrent build is five times slower. */
export const PATIENCE = 60_000;
export const WIDE = { width: 1100, height: 800 };
export const NARROW = { width: 390, height: 844 };
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';

/** Starts the browser; hosts below `.test` resolve to this machine. `more`: additional switches. */
export function launch(more = []) {
  const args = [...more, '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--no-first-run', '--disable-gpu', '--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1'];
  return chromium.launch({ executablePath: CHROMIUM, args, chromiumSandbox: process.getuid() !== 0 });
}

/** A user with a separate browser, without cookies. */
export class Visitor {
  /** `origins`: the allowed origins. `expected`: console errors that belong to the test. */
  static async arrive(browser, origins, { expected = [], ...options } = {}) {
    const visitor = Object.assign(new Visitor(), { faults: [], origins, expected });
    visitor.context = await browser.newContext({ locale: 'en-US', viewport: WIDE, reducedMotion: 'reduce', ...options });
    visitor.context.setDefaultTimeout(PATIENCE);
    await visitor.#watch();
    return visitor;
  }

  /** Opens an address in a tab, directly or as a link of the page. */
  async open(address, options) {
    const page = await this.context.newPage();
    await page.goto(address, options);
    return page;
  }

  /** Aborts the page's requests to this address of the login. */
  lose(address) {
    return this.context.route(`**/login/*/${address}`, (route) => route.abort('connectionfailed'));
  }

  /** Checks that no page violated a rule. */
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
 * Serves a test page for these addresses, so that the tab never reaches the site. A failed request would show Chromium's
 * error page, which retries after a second; a retry while the tab is closed would reach the site.
 */
export function heldBack(page, addresses) {
  return page.route(addresses, (route) => route.fulfill({ contentType: 'text/plain', body: 'held back' }));
}

/** Waits until the login page is in a state; returns the text of its `<main>`. */
export async function state(page, name) {
  const main = page.locator(`main[data-state="${name}"]`);
  await main.waitFor().catch(async (error) => {
    throw new Error(`not ${name} but ${await page.locator('main').getAttribute('data-state').catch(() => page.url())}`, { cause: error });
  });
  return main;
}

/** Returns the page's code for a wallet; waits for the next code if it expired on a busy machine. */
export async function codeOf(page) {
  const code = await page.locator('a[rel="signpost-code"][href]').first().getAttribute('href');
  return { code, number: await page.locator('output#number').textContent() };
}

export const lightningOf = (page) => page.locator('a[rel="signpost-lightning"]').first().getAttribute('href');

/** Returns the site's message after the browser has returned. */
export async function back(page) {
  const main = page.locator('main[data-site]');
  await main.waitFor();
  return main.getAttribute('data-site');
}
