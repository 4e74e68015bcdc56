// A user whose browser has cookies and follows redirects, but runs no scripts: from a site's login button, through the
// provider's pages, to the site's greeting.
import assert from 'node:assert/strict';
import * as http from 'node:http';
import * as https from 'node:https';
import { CookieJar, PrefixSecurityEnum } from 'tough-cookie';

/** Maximum number of steps of a journey. */
const MOST_STEPS = 40;

export class Person {
  /** The pages of the last journey, in order: `login`, `create`, `consent`, `logout`. */
  met = [];
  /** Like browsers, it rejects a cookie that violates the rules of its prefix (`__Host-`). */
  #jar = new CookieJar(undefined, { prefixSecurity: PrefixSecurityEnum.STRICT });

  /** `answer(page)` answers the code of a login page like this user's wallet; `ca` certifies the https sites. */
  constructor(answer, { ca } = {}) {
    this.answer = answer;
    this.ca = ca;
  }

  /** Returns the cookies for an address, as `{key, secure, httpOnly, sameSite, path}` and more. */
  cookies(address) {
    return this.#jar.getCookies(address);
  }

  /**
   * Opens an address, and continues until a site shows a page: `{status, url, text, headers}`. `change(url)` may alter a
   * redirect, `until(url)` stops before it; `consent` is the button to press, `allow` or `deny`.
   */
  async open(address, { change = (url) => url, until = () => false, consent = 'allow' } = {}) {
    this.met = [];
    let page = await this.#fetch(new URL(address));
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const next = await this.#next(page, consent);
      if (!next) return page;
      if (until(next.url)) return next;
      page = await this.#fetch(change(next.url), next.form, page.url);
    }
    assert.fail(`too many redirects, last to ${page.url}`);
  }

  /** Returns the page's next address; nothing if the user is meant to read the page. */
  async #next(page, consent) {
    if (page.headers.location && page.status >= 300 && page.status < 400) return to(page, page.headers.location);
    const main = element(page.text, 'main', 'id="main"');
    const state = main && attribute(main, 'data-state');
    if (state === 'waiting' || state === 'create') return this.#logIn(page, state);
    for (const id of ['log-in', 'log-out', 'consent', 'logout']) {
      const form = element(page.text, 'form', `id="${id}"`);
      if (form) return this.#press(page, id, id === 'consent' ? consent : undefined);
    }
    const link = element(page.text, 'a', 'id="continue"');
    return link && to(page, attribute(link, 'href'));
  }

  async #logIn(page, state) {
    this.met.push(state === 'create' ? 'create' : 'login');
    assert.ok(this.met.filter((page) => page === this.met.at(-1)).length < 4, `the page does not continue: ${page.text}`);
    await this.answer(page);
    return { url: page.url };
  }

  /** Submits a form with the button of this value, or its only button. */
  #press(page, id, value) {
    if (!id.startsWith('log-')) this.met.push(id); // a button of the site
    const html = page.text.slice(page.text.indexOf(element(page.text, 'form', `id="${id}"`)));
    const inside = html.slice(0, html.indexOf('</form>'));
    const named = (tag) => (inside.match(new RegExp(`<${tag}\\b[^>]*>`, 'g')) ?? []).filter((tag) => attribute(tag, 'name'));
    const button = named('button').find((tag) => value === undefined || attribute(tag, 'value') === value);
    assert.ok(button || value === undefined, `no button '${value}' in ${inside}`);
    const sent = [...named('input'), ...(button ? [button] : [])];
    const form = new URLSearchParams(sent.map((tag) => [attribute(tag, 'name'), attribute(tag, 'value') ?? '']));
    return { ...to(page, attribute(inside, 'action') ?? page.url.href), form: form.toString() };
  }

  /** Sends a browser's request for a followed link or a pressed button. */
  async #fetch(url, form, from) {
    const headers = {
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      'accept-language': 'en',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      cookie: await this.#jar.getCookieString(url.href),
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded', origin: from.origin }),
    };
    const options = { method: form === undefined ? 'GET' : 'POST', headers, agent: false, ca: this.ca };
    const { request } = url.protocol === 'https:' ? https : http;
    // An error after the reply is ignored: Apache sends a second page after an error page, which browsers ignore as well.
    // A truncated reply has its own error.
    const reply = await new Promise((resolve, reject) => {
      request(url, options).once('response', resolve).on('error', reject).end(form);
    });
    for (const cookie of reply.headers['set-cookie'] ?? []) await this.#jar.setCookie(cookie, url.href);
    const text = (await reply.setEncoding('utf8').toArray()).join('');
    return { url, status: reply.statusCode, headers: reply.headers, text };
  }
}

const to = (page, address) => ({ url: new URL(address, page.url) });

/** Returns the first start tag of this name with the attribute. */
function element(html, name, has) {
  return html.match(new RegExp(`<${name}\\b[^>]*>`, 'g'))?.find((tag) => tag.includes(` ${has}`));
}

/** Returns the value of a start tag's attribute, unescaped. */
export function attribute(tag, name) {
  const entities = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' };
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag);
  return found?.[1].replace(/&(?:quot|#39|lt|gt|amp);/g, (entity) => entities[entity]);
}
