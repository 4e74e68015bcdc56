// Shows the ATMs of a tool result in an assistant's window.
import { ask, listen, tell } from './host.js';
import { sketch } from './sketch.js';
import { WORDS } from './words.js';

/** Number of ATMs per page. */
const STEP = 5;

const root = document.documentElement;
const [heading, status, advice, drawing, list, foot] = document.querySelector('main').children;

/** The capabilities of the host. */
let can = {};
let locale = 'en';
/** The arguments of the call; its result, and how many of its ATMs are shown. */
let given = {};
let page;
let shown;

/** Creates an element. Its content becomes text, never markup, because it comes from third parties. */
function make(name, properties, ...inside) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside.filter(Boolean));
  return element;
}

const say = (text) => status.replaceChildren(text);
const t = (key) => WORDS[key]?.[locale.startsWith('es') ? 1 : 0];
const dated = (key, text, form = { dateStyle: 'medium' }) => text && `${t(key)} ${new Date(text).toLocaleString(locale, { timeZone: 'UTC', ...form })}`;
const join = (parts, by = ' · ') => parts.filter(Boolean).join(by);
/** Formats a time in the ATM's time zone, not the reader's. */
const clock = (key, text) => text && dated(key, `${text.slice(0, 16)}Z`, { weekday: 'short', hour: 'numeric', minute: '2-digit' });
const unit = () => (given.units === 'km' ? 'km' : t('miles'));
/** Returns a paragraph with an English text of the server. */
const told = (text) => make('p', { lang: 'en' }, text);

/** Returns a link for the host to open, or nothing if the host cannot open links. */
function link(key, about, href) {
  if (!can.openLinks || !/^https?:/.test(href)) return '';
  const onclick = async (event) => {
    event.preventDefault();
    const { isError } = await ask('ui/open-link', { url: href }).catch(() => ({ isError: true }));
    if (isError) say(t('blocked'));
  };
  return make('a', { href, onclick, ariaLabel: `${t(key)} ${about}` }, t(key));
}

function advisory({ text, effective, checked, sourceUrl }) {
  return make('section', {}, told(text), make('p', {}, make('small', {}, join([dated('effective', effective), dated('checked', checked)]), ' '), link('source', text, sourceUrl)));
}

/** Returns the reason for an unknown status, in the page's words if they have it, else in the server's. */
function reason({ statusReason = '', statusAsOf }) {
  if (/365/.test(statusReason)) return dated('old', statusAsOf, { year: 'numeric' });
  if (/hours not/.test(statusReason)) return t('hours');
  const [kind] = /law|say|^rep/.exec(statusReason) ?? [];
  return kind ? t(kind) || statusReason : t('unsaid');
}

function verdict(atm) {
  const { status, opensAt, closesAt } = atm;
  const word = t(status).slice(1);
  if (status === 'unknown') return `${word}: ${reason(atm)}`;
  if (opensAt) return `${word}, ${clock('opens', opensAt)}`;
  return join([word, clock('until', closesAt)], ' ');
}

function row(atm) {
  // A shortened list does not repeat a date.
  atm.statusAsOf ??= atm.lastConfirmed;
  const asOf = dated('asOf', atm.statusAsOf) || (atm.status !== 'unknown' && t('undated'));
  const to = `https://www.google.com/maps/dir/?api=1&destination=${atm.lat},${atm.lon}`;
  return make('li', {},
    make('h2', { tabIndex: -1 }, atm.name),
    make('p', {}, make('b', {}, `${atm.distance.split(' ')[0]} ${unit()}`), ' · ', atm.address),
    make('p', { className: atm.status }, make('span', { ariaHidden: true }, t(atm.status)[0]), verdict(atm), asOf && make('small', {}, ` · ${asOf}`)),
    atm.reports && told(atm.reports),
    link('directions', atm.name, to),
    link('gone', atm.name, atm.url));
}

/** Shows the next ATMs of the result, or requests them if the host supports tool calls. */
async function more() {
  const before = page;
  const from = shown;
  if (from === page.atms.length) {
    say(t('loading'));
    try {
      const next = read(await ask('tools/call', { name: 'list_atms_by_city', arguments: { ...given, cursor: page.nextCursor } }));
      if (page !== before) return;
      page = { ...next, atms: page.atms.concat(next.atms) };
    } catch {
      say(t('failed'));
      return;
    }
  }
  shown = from + STEP;
  show();
  list.children[from]?.firstChild.focus();
}

/** Returns the sentences of the notice that are not in an advisory. */
function news({ notice = '', advisories = [] }) {
  return notice.split('. ').filter((sentence) => !advisories.some(({ text }) => text.includes(sentence))).join('. ');
}

/** Returns the parts of the result other than its ATMs. */
function around(result) {
  const { advisories = [], attribution = [], counts = {}, dataAsOf, oldestDataAsOf, failure } = result;
  advice.replaceChildren(...advisories.map(advisory), told(failure ?? news(result)),
    make('p', {}, join(Object.entries(counts).map(([status, count]) => `${t(status)} ${count}`))));
  const dates = join([dated('data', oldestDataAsOf ?? dataAsOf), dated('until', oldestDataAsOf && dataAsOf)], ' ');
  foot.append(make('small', {}, join([dates, ...attribution])));
}

function show() {
  const { atms = [], total, resolvedLocation: place, nextCursor, failure } = page ?? {};
  const listed = atms.slice(0, shown);
  shown = listed.length;
  const isMore = listed.length < atms.length || (nextCursor && can.serverTools);
  const centre = place || (given.lat !== undefined && given);
  root.lang = locale;
  heading.textContent = join([t('title'), join([given.city ?? place?.name, given.state ?? place?.region], ', ')], ': ');
  say(!page ? t('loading') : failure !== undefined ? t('failed') : total ? `${listed.length} ${t('of')} ${total}` : t('none'));
  drawing.ariaLabel = t('sketch');
  drawing.innerHTML = listed.length ? sketch(listed, centre, unit()) : '';
  list.replaceChildren(...listed.map(row));
  foot.replaceChildren(isMore ? make('button', { onclick: more }, t('more')) : '');
  around(page ?? {});
}

/** Returns the value of a result; some hosts forward only its text. */
function read({ structuredContent, content, isError }) {
  const text = content?.[0]?.text ?? '';
  if (isError) throw text;
  return structuredContent ?? JSON.parse(text);
}

function take(result) {
  try {
    page = read(result);
  } catch (failure) {
    page = { failure };
  }
  shown = STEP;
  show();
}

function wait({ arguments: sent }) {
  given = sent ?? {};
  page = undefined;
  show();
}

/** Applies the host's theme and language. */
function adapt({ theme, styles, locale: spoken, safeAreaInsets: safe }) {
  if (theme) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) root.style.setProperty(name, value);
  if (safe) root.style.padding = `${safe.top}px ${safe.right}px ${safe.bottom}px ${safe.left}px`;
  if (!spoken) return;
  try {
    [locale] = Intl.getCanonicalLocales(spoken);
  } catch {
    // An invalid language is ignored.
  }
  show();
}

const sized = new ResizeObserver(() => tell('size-changed', { width: innerWidth, height: root.offsetHeight }));

listen(new Map([
  ['ping', () => {}],
  ['ui/resource-teardown', () => sized.disconnect()],
  ['ui/notifications/host-context-changed', adapt],
  ['ui/notifications/tool-input', wait],
  ['ui/notifications/tool-result', take],
  ['ui/notifications/tool-cancelled', () => take({ isError: true })],
]));

adapt({ locale: navigator.language });
ask('ui/initialize', {
  protocolVersion: '2026-01-26',
  appInfo: { name: 'signpost', version: '1' },
  appCapabilities: { availableDisplayModes: ['inline'] },
}).then(({ hostCapabilities = {}, hostContext = {} }) => {
  can = hostCapabilities;
  adapt(hostContext);
  tell('initialized');
  sized.observe(root);
}, () => take({ isError: true }));
