// @ts-check
// The screen: one part of the page at a time, and texts with placeholders. All texts are in the page.

const language = document.documentElement.lang;
export const main = /** @type {HTMLElement} */ (document.getElementById('main'));

/** @typedef {Record<string, string>} Places the values of a text's placeholders, by name */

/** Returns an element of the page. @template {HTMLElement} T @param {string} id @param {new () => T} [kind] @returns {T} */
export function part(id, kind) {
  const found = document.getElementById(id);
  if (!found || (kind && !(found instanceof kind))) throw new Error(`no #${id}`);
  return /** @type {T} */ (found);
}

/** Shows a screen, and announces it. @param {string} name @param {Places} [places] */
export function show(name, places = {}) {
  for (const screen of main.querySelectorAll('[data-screen]')) {
    if (!(screen instanceof HTMLElement)) continue;
    screen.hidden = screen.dataset.screen !== name;
    if (!screen.hidden) {
      fill(screen, places);
      const heading = screen.querySelector('h1')?.innerText ?? '';
      document.title = heading.trim().replace(/\s+/g, ' ');
      say(document.title);
    }
  }
  main.dataset.state = name;
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** @param {string} text */
export function say(text) {
  part('live').textContent = text;
}

/** Fills in placeholders. @param {ParentNode} where @param {Places} places */
export function fill(where, places) {
  for (const [name, text] of Object.entries(places)) {
    for (const place of where.querySelectorAll(`[data-place="${name}"]`)) place.textContent = text;
  }
}

/** Returns a copy of a text of the page. @param {string} name @param {Places} [places] */
export function text(name, places = {}) {
  const texts = part('texts', HTMLTemplateElement).content;
  const found = texts.querySelector(`[data-text="${name}"]`) ?? texts.querySelector('[data-text="failed"]');
  const copy = /** @type {HTMLElement} */ (found?.cloneNode(true));
  fill(copy, places);
  return copy;
}

/** Shows or hides the error of a field. @param {string} id of the field @param {HTMLElement | null} what */
export function blame(id, what) {
  const [field, error] = [part(id), part(`${id}-error`)];
  field.toggleAttribute('aria-invalid', what !== null);
  if (what) field.setAttribute('aria-invalid', 'true');
  field.closest('.field')?.classList.toggle('bad', what !== null);
  error.hidden = what === null;
  error.replaceChildren(...(what ? [what] : []));
  if (what) field.focus();
}

/** Formats a duration, such as “4 minutes”. @param {number} seconds of either sign */
export function duration(seconds) {
  const all = Math.abs(seconds);
  /** @type {[number, string]} */
  const [size, unit] = all < 120 ? [1, 'second'] : all < 7200 ? [60, 'minute'] : all < 172_800 ? [3600, 'hour'] : [86_400, 'day'];
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(Math.floor(all / size));
}

/** @param {number} time in milliseconds */
export const day = (time) => new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(time);
