// <signpost-login src="/login/session" api="https://login.example.com/v1">: the code of a login, on a site's page.
// `src` answers POST with the reply of POST /sessions; `api` is polled for the session's status. docs/integrate.md.
// @ts-check

import { modules } from './signpost-qr.js';

/** Time for which codes are replaced automatically, in ms: the user may have left. */
const PATIENCE = 15 * 60_000;
/** Time before its expiry at which a code is replaced, in ms. */
const EARLY = 3_000;
/** Delay before a retry if the server does not respond, in ms. */
const RETRY = 5_000;

/** The API of the service that serves this file. */
const HOME = new URL('/v1', import.meta.url).href;

const WORDS = {
  en: {
    code: 'Login code. Scan it with your wallet, or open it to use the wallet on this device.',
    scan: 'Scan this code with your wallet.',
    number: ['Type this number in your wallet when it shows ', '.'],
    open: 'Open my wallet on this device',
    left: (time) => `New code in ${time}`,
    waiting: 'Waiting for your wallet.',
    renewed: 'Here is a new code. The old one no longer works.',
    done: 'Your wallet has answered. One moment.',
    ended: 'This login has ended. Nothing has happened to your account.',
    away: 'The server does not answer. We try again in 5 s.',
    again: 'Show a new code',
  },
  es: {
    code: 'Código de inicio de sesión. Escanéalo con tu billetera, o ábrelo para usar la billetera de este dispositivo.',
    scan: 'Escanea este código con tu billetera.',
    number: ['Escribe este número en tu billetera cuando muestre ', '.'],
    open: 'Abrir mi billetera en este dispositivo',
    left: (time) => `Código nuevo en ${time}`,
    waiting: 'Esperando a tu billetera.',
    renewed: 'Aquí tienes un código nuevo. El anterior ya no sirve.',
    done: 'Tu billetera ha respondido. Un momento.',
    ended: 'Este inicio de sesión ha terminado. Tu cuenta sigue igual.',
    away: 'El servidor no responde. Lo intentamos de nuevo en 5 s.',
    again: 'Mostrar un código nuevo',
  },
};

const STYLE = `
:host { display: block; inline-size: var(--signpost-size, 18.5rem); max-inline-size: 100%; color: var(--signpost-ink, inherit) }
:host([hidden]), [hidden] { display: none !important }
p { margin: .75rem 0; line-height: 1.45 }
a { color: var(--signpost-accent, #0a6b47) }
a.code { display: block; background: #fff; border: 1px solid var(--signpost-line, #d3dbd7); border-radius: var(--signpost-radius, 10px); overflow: clip }
a.code svg { display: block; inline-size: 100%; block-size: auto }
a.open { display: flex; align-items: center; min-block-size: 44px }
.number { display: flex; align-items: center; gap: 1rem }
output { flex: none; padding: 0 .75rem; border-radius: var(--signpost-radius, 10px); background: var(--signpost-plate, #0a6b47); color: var(--signpost-on-plate, #fff); font: 650 3.25rem/1.35 system-ui, sans-serif; font-variant-numeric: tabular-nums; outline: 2px solid var(--signpost-on-plate, #fff); outline-offset: -5px }
b { overflow-wrap: anywhere }
time { font-variant-numeric: tabular-nums }
button { min-block-size: 44px; padding: .5rem 1rem; border: 0; border-radius: var(--signpost-radius, 10px); background: var(--signpost-accent, #0a6b47); color: var(--signpost-on-accent, #fff); font: inherit; font-weight: 560; cursor: pointer }
:focus-visible { outline: 3px solid var(--signpost-focus, #1a56d6); outline-offset: 2px }
@media (forced-colors: active) { output, button { border: 1px solid } }
`;

/** Creates an element with attributes and children. @returns {any} */
function element(name, attributes = {}, ...children) {
  const made = name === 'svg' || name === 'path' || name === 'rect'
    ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

class SignpostLogin extends HTMLElement {
  #root = this.attachShadow({ mode: 'open' });
  #stop = new AbortController();
  #status = element('p', { role: 'status', part: 'status' });
  #panel = element('div');
  #words = WORDS.en;

  constructor() {
    super();
    // A stylesheet that is created by script is not an inline style: `style-src 'self'` allows it.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#root.adoptedStyleSheets = [sheet];
    this.#root.append(this.#panel, this.#status);
  }

  connectedCallback() {
    const language = /** @type {HTMLElement | null} */ (this.closest('[lang]'))?.lang ?? '';
    this.#words = language.startsWith('es') ? WORDS.es : WORDS.en;
    this.#begin();
  }

  disconnectedCallback() {
    this.#stop.abort();
  }

  /** Shows codes until one is answered, the time limit ends, or the element leaves the page. */
  async #begin() {
    this.#stop.abort();
    const stop = (this.#stop = new AbortController()).signal;
    const until = performance.now() + PATIENCE;
    let session;
    while (!stop.aborted) {
      try {
        const isFirst = !session;
        session = await this.#ask(this.getAttribute('src') ?? '', { method: 'POST' }, stop);
        this.#show(session, isFirst);
        const status = await this.#outcome(session, stop);
        if (status === 'authenticated') return this.#done(session);
        if (status !== 'expired' || performance.now() > until) return this.#end();
      } catch {
        if (stop.aborted) return;
        this.#panel.replaceChildren();
        this.#status.textContent = this.#words.away;
        await new Promise((resolve) => setTimeout(resolve, RETRY));
      }
    }
  }

  /** Fetches a JSON document of the site or the service. @returns {Promise<any>} */
  async #ask(address, options, signal) {
    const reply = await fetch(address, { ...options, signal, headers: { accept: 'application/json', ...options.headers } });
    const body = await reply.json();
    if (reply.status === 410) return { status: 'over' };
    if (!reply.ok) throw new Error(`${address} answered ${reply.status}`);
    return body;
  }

  /** Returns the outcome of a session: `authenticated`, `expired` shortly before it expires, or `over`. */
  async #outcome(session, stop) {
    const life = Date.parse(session.expires_at) - Date.parse(session.created_at) - EARLY;
    const ended = new AbortController();
    const end = () => ended.abort();
    stop.addEventListener('abort', end);
    const ending = performance.now() + life;
    const ticking = setInterval(() => this.#tick(ending - performance.now(), end), 250);
    try {
      const address = `${this.getAttribute('api') ?? HOME}/sessions/${encodeURIComponent(session.id)}?wait=25`;
      const headers = { authorization: `Bearer ${session.client_secret}` };
      for (;;) {
        const { status } = await this.#ask(address, { headers }, ended.signal);
        if (status !== 'pending') return status;
      }
    } catch (error) {
      if (ended.signal.aborted && !stop.aborted) return 'expired';
      throw error;
    } finally {
      clearInterval(ticking);
      stop.removeEventListener('abort', end);
    }
  }

  #tick(left, end) {
    if (left <= 0) return end();
    const seconds = Math.ceil(left / 1000);
    const shown = this.#words.left(seconds > 90 ? `${Math.round(seconds / 60)} min` : `${seconds} s`);
    const time = this.#panel.querySelector('time');
    if (!time || time.textContent === shown) return;
    time.textContent = shown;
    // Announced twice, not every second.
    if (seconds === 30 || seconds === 10) this.#status.textContent = shown;
  }

  #show({ qr_data, confirm_code, challenge, expires_at }, isFirst) {
    if (!qr_data.startsWith('svc://')) throw new Error('no code');
    const words = this.#words;
    const domain = challenge.split(':')[2];
    const [before, after] = words.number;
    const number = element('div', { class: 'number', part: 'number' }, element('output', {}, confirm_code ?? ''),
      element('span', {}, before, element('b', {}, domain), after));
    const code = element('a', { class: 'code', part: 'code', rel: 'signpost-code', href: qr_data, 'aria-label': words.code }, draw(qr_data));
    const open = element('a', { class: 'open', part: 'link', href: qr_data }, words.open);
    const time = element('time', { datetime: expires_at, part: 'time' });
    this.#panel.replaceChildren(element('p', {}, words.scan), ...(confirm_code ? [number] : []), element('p', {}, code), open, time);
    this.#status.textContent = isFirst ? words.waiting : words.renewed;
  }

  #done({ id }) {
    this.#panel.replaceChildren();
    this.#status.textContent = this.#words.done;
    this.dispatchEvent(new CustomEvent('signpost-login', { detail: { id }, bubbles: true, composed: true }));
  }

  #end() {
    const button = element('button', { type: 'button', part: 'button' }, this.#words.again);
    button.addEventListener('click', () => this.#begin());
    this.#panel.replaceChildren(button);
    this.#status.textContent = this.#words.ended;
  }
}

/** Draws a text as a QR code: one path, dark modules, a quiet zone of 4 modules. */
function draw(text) {
  const rows = modules(text), side = rows.length + 8;
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : ''))).join('');
  return element('svg', { viewBox: `0 0 ${side} ${side}`, 'aria-hidden': 'true', 'shape-rendering': 'crispEdges' },
    element('rect', { width: side, height: side, fill: '#fff' }), element('path', { d: path, fill: '#000' }));
}

customElements.define('signpost-login', SignpostLogin);
