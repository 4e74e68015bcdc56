// A person whose browser has cookies and follows redirects, and nothing else: from the login button of a site to the page
// that greets them there, through whatever the provider puts in the way.
import assert from 'node:assert/strict';
import * as http from 'node:http';
import * as https from 'node:https';
import { CookieJar, PrefixSecurityEnum } from 'tough-cookie';

/** Nobody is sent around longer than this. */
const MOST_STEPS = 40;

export class Person {
  /** What stood in the way of the last journey, in order: `login`, `create`, `consent`, `logout`. */
  met = [];
  /** As browsers do, it refuses a cookie whose name promises what it does not keep (`__Host-`). */
  #jar = new CookieJar(undefined, { prefixSecurity: PrefixSecurityEnum.STRICT });

  /** `answer(page)` answers the code of a login page, as this person's wallet does; `ca` certifies the sites on https. */
  constructor(answer, { ca } = {}) {
    this.answer = answer;
    this.ca = ca;
  }

  /** The cookies for an address, as `{key, secure, httpOnly, sameSite, path}` and more. */
  cookies(address) {
    return this.#jar.getCookies(address);
  }

  /**
   * Goes to an address, and on until a site shows something: `{status, url, text, headers}`. `change(url)` may alter where
   * a redirect leads, `until(url)` ends before it; `consent` is the button that is pressed, `allow` or `deny`.
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
    assert.fail(`sent around for ever, last to ${page.url}`);
  }

  /** Where the page sends its visitor; nothing where it is meant to be read. */
  async #next(page, consent) {
    if (page.headers.location && page.status >= 300 && page.status < 400) return to(page, page.headers.location);
    const main = element(page.text, 'main', 'id="main"');
    const state = main && attribute(main, 'data-state');
    if (state === 'waiting' || state === 'create') return this.#logIn(page, state);
    for (const id of ['consent', 'logout']) {
      const form = element(page.text, 'form', `id="${id}"`);
      if (form) return this.#press(page, id, id === 'consent' ? consent : undefined);
    }
    const link = element(page.text, 'a', 'id="continue"');
    return link && to(page, attribute(link, 'href'));
  }

  async #logIn(page, state) {
    this.met.push(state === 'create' ? 'create' : 'login');
    assert.ok(this.met.filter((one) => one === this.met.at(-1)).length < 4, `the page does not go on: ${page.text}`);
    await this.answer(page);
    return { url: page.url };
  }

  /** Sends a form with the button of this value, or its only one. */
  #press(page, id, value) {
    this.met.push(id);
    const html = page.text.slice(page.text.indexOf(element(page.text, 'form', `id="${id}"`)));
    const inside = html.slice(0, html.indexOf('</form>'));
    const named = (tag) => (inside.match(new RegExp(`<${tag}\\b[^>]*>`, 'g')) ?? []).filter((one) => attribute(one, 'name'));
    const button = named('button').find((one) => value === undefined || attribute(one, 'value') === value);
    assert.ok(button || value === undefined, `no button '${value}' in ${inside}`);
    const sent = [...named('input'), ...(button ? [button] : [])];
    const form = new URLSearchParams(sent.map((one) => [attribute(one, 'name'), attribute(one, 'value') ?? '']));
    return { ...to(page, attribute(inside, 'action') ?? page.url.href), form: form.toString() };
  }

  /** One request as a browser makes it whose person followed a link or pressed a button. */
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
    // An error after the reply rejects nothing any more: Apache has a second page after that of an error, which browsers
    // leave unread too. A reply that breaks off is one of its own.
    const reply = await new Promise((resolve, reject) => {
      request(url, options).once('response', resolve).on('error', reject).end(form);
    });
    for (const cookie of reply.headers['set-cookie'] ?? []) await this.#jar.setCookie(cookie, url.href);
    const text = (await reply.setEncoding('utf8').toArray()).join('');
    return { url, status: reply.statusCode, headers: reply.headers, text };
  }
}

const to = (page, address) => ({ url: new URL(address, page.url) });

/** The first start tag of this name that has the attribute. */
function element(html, name, has) {
  return html.match(new RegExp(`<${name}\\b[^>]*>`, 'g'))?.find((tag) => tag.includes(` ${has}`));
}

/** What an attribute of a start tag says, its characters as they are read. */
export function attribute(tag, name) {
  const entities = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' };
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag);
  return found?.[1].replace(/&(?:quot|#39|lt|gt|amp);/g, (entity) => entities[entity]);
}
