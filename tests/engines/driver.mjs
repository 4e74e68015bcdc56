// A client of WebDriver (W3C), for the two engines that Playwright does not drive in Debian's builds: WebKit over HTTP, as
// the standard describes, and Firefox over Marionette, its own transport of the same commands.
import assert from 'node:assert/strict';
import { connect } from 'node:net';

/** A machine with a concurrent build is five times slower. */
export const PATIENCE = 60_000;
const POLL = 25;
/** The key of a reference to an element (WebDriver, 12.1). */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** Name of a Marionette command → the method and the path of the same command over HTTP. */
const HTTP_COMMANDS = {
  'WebDriver:NewSession': ['POST', () => ''],
  'WebDriver:DeleteSession': ['DELETE', () => ''],
  'WebDriver:Navigate': ['POST', () => '/url'],
  'WebDriver:GetCurrentURL': ['GET', () => '/url'],
  'WebDriver:ExecuteScript': ['POST', () => '/execute/sync'],
  'WebDriver:ElementClick': ['POST', ({ id }) => `/element/${id}/click`],
  'WebDriver:ElementClear': ['POST', ({ id }) => `/element/${id}/clear`],
  'WebDriver:ElementSendKeys': ['POST', ({ id }) => `/element/${id}/value`],
  'WebDriver:SetWindowRect': ['POST', () => '/window/rect'],
  'WebDriver:DeleteAllCookies': ['DELETE', () => '/cookie'],
};

/** Sends commands to WebKitWebDriver. */
export class HttpTransport {
  constructor(address) {
    this.address = address;
    this.session = '';
  }

  async send(name, parameters = {}) {
    const [method, path] = HTTP_COMMANDS[name];
    const body = method === 'POST' ? JSON.stringify(parameters) : undefined;
    const reply = await fetch(`${this.address}/session${this.session}${path(parameters)}`, { method, body });
    const { value } = await reply.json();
    if (!reply.ok) throw new Error(`${name}: ${value.error}: ${value.message}`);
    if (name === 'WebDriver:NewSession') this.session = `/${value.sessionId}`;
    return value;
  }

  close() {}
}

/** Sends commands to a Firefox with `--marionette`. A message is its length, a colon, and JSON. */
export class MarionetteTransport {
  #pending = new Map();
  #last = 0;
  #read = Buffer.alloc(0);

  static async open(port) {
    const transport = new MarionetteTransport();
    transport.socket = connect(port, '127.0.0.1');
    await new Promise((resolve, reject) => transport.socket.once('connect', resolve).once('error', reject));
    transport.socket.on('data', (data) => transport.#receive(data));
    transport.socket.on('close', () => transport.#pending.forEach(({ reject }) => reject(new Error('Firefox closed the connection'))));
    return transport;
  }

  async send(name, parameters = {}) {
    const id = ++this.#last;
    const message = JSON.stringify([0, id, name, parameters]);
    const reply = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.socket.write(`${Buffer.byteLength(message)}:${message}`);
    const result = await reply;
    return result && 'value' in result ? result.value : result;
  }

  close() {
    this.socket.destroy();
  }

  #receive(data) {
    this.#read = Buffer.concat([this.#read, data]);
    for (;;) {
      const colon = this.#read.indexOf(':');
      const end = colon + 1 + Number(this.#read.subarray(0, colon));
      if (colon < 0 || this.#read.length < end) return;
      const message = JSON.parse(this.#read.subarray(colon + 1, end));
      this.#read = this.#read.subarray(end);
      // The first message is the greeting, which is no reply.
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message;
      const { resolve, reject } = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) reject(new Error(`${error.error}: ${error.message}`));
      else resolve(result);
    }
  }
}

/** A browser with one window. Elements are selected by CSS, and by their text if a pattern is given. */
export class Driver {
  constructor(transport) {
    this.transport = transport;
  }

  send(name, parameters) {
    return this.transport.send(name, parameters);
  }

  open(url) {
    return this.send('WebDriver:Navigate', { url });
  }

  url() {
    return this.send('WebDriver:GetCurrentURL');
  }

  /** Runs the body of a function in the page. */
  run(script, ...args) {
    return this.send('WebDriver:ExecuteScript', { script, args });
  }

  /** Waits until `look` returns a value other than null, undefined and false. */
  async until(what, look) {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      // A page that is being replaced has no elements and no scripts.
      const seen = await look().catch((error) => void (this.lastError = error));
      if (seen !== null && seen !== undefined && seen !== false) return seen;
      if (Date.now() > deadline) {
        const text = await this.run('return document.body?.innerText').catch(String);
        throw new Error(`not seen: ${what}, at ${await this.url()}: ${text}`, { cause: this.lastError });
      }
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  /** Waits for a visible element; returns its ID. */
  async find(selector, text = '') {
    const element = await this.until(`${selector} ${text}`, () => this.run(FIND, selector, text.source ?? text));
    return element[ELEMENT];
  }

  /** Clicks an element; finds it again if the page replaces it meanwhile. */
  async click(selector, text) {
    await this.until(`a click on ${selector}`, async () => {
      await this.send('WebDriver:ElementClick', { id: await this.find(selector, text) });
      return true;
    });
  }

  /** Replaces the text of a field, key by key. */
  async type(selector, text) {
    const id = await this.find(selector);
    await this.send('WebDriver:ElementClear', { id });
    await this.send('WebDriver:ElementSendKeys', { id, text });
  }

  async text(selector) {
    await this.find(selector);
    return this.run('return document.querySelector(arguments[0]).innerText', selector);
  }

  async attribute(selector, name) {
    return this.until(`${selector} with ${name}`, () => this.run('return document.querySelector(arguments[0])?.getAttribute(arguments[1])', selector, name));
  }

  /** Waits until the login page is in a state. */
  async state(name) {
    await this.until(`the state ${name}`, () => this.run('return Boolean(document.querySelector(`main[data-state="${arguments[0]}"]`))', name));
  }

  /** Checks that the page is not wider than the window. */
  async assertFits() {
    const [page, window] = await this.run('return [document.documentElement.scrollWidth, window.innerWidth]');
    assert.ok(page <= window, `${await this.url()} is ${page} px wide in a window of ${window} px`);
  }
}

/** Finds the first visible element that matches a selector and contains a text. */
const FIND = `
  const pattern = new RegExp(arguments[1]);
  for (const element of document.querySelectorAll(arguments[0])) {
    if (pattern.test(element.innerText || element.value || '') && element.checkVisibility({ visibilityProperty: true })) return element;
  }
  return null;`;
