// The layout checks of every page, in both themes and at both widths: no axe violations, no overflow, visible focus for
// keyboard users.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { NARROW, WIDE } from './browser.mjs';

const AXE = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
/** The rules that a theme can break, because it changes only colours. */
const RULES_OF_COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
export const THEMES = ['light', 'dark'];
export const SIZES = [WIDE, NARROW];

/** Checks the current page. */
export async function checkLooks(page) {
  for (const viewport of SIZES) {
    await page.setViewportSize(viewport);
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const rules = colorScheme === THEMES[0] ? RULES : RULES_OF_COLOURS;
      assert.deepEqual(await violations(page, rules), [], `${viewport.width} px, ${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await checkWidth(page, viewport.width);
    await checkFocus(page);
  }
  // Minimum width of a page (WCAG 2.2, 1.4.10).
  await page.setViewportSize({ width: 320, height: 640 });
  await checkWidth(page, 320);
  await page.setViewportSize(WIDE);
}

/** Returns axe's violations. axe runs outside of the page's content security policy. */
export async function violations(page, rules = RULES) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const found = await page.evaluate((runOnly) => window.axe.run(document, { runOnly, preload: false, resultTypes: ['violations'] }), rules);
  const parts = ({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.html.slice(0, 200)} ${node.failureSummary}`);
  return found.violations.flatMap(parts).slice(0, 5);
}

async function checkWidth(page, width) {
  // Elements that a script positions follow a new width a frame later.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const outside = await page.evaluate((limit) => {
    const sticksOut = (element) => {
      const { left, right, width } = element.getBoundingClientRect();
      return width > 1 && (right > limit + 0.5 || left < -0.5) && getComputedStyle(element).position !== 'fixed';
    };
    const scrolls = (element) => element.closest('pre, [tabindex="0"]') !== null;
    const found = [...document.body.querySelectorAll('*')].filter((element) => sticksOut(element) && !scrolls(element) && !element.closest('.skip'));
    return { page: document.documentElement.scrollWidth, parts: found.map((element) => element.outerHTML.slice(0, 120)) };
  }, width);
  assert.ok(outside.page <= width, `${outside.page} px in ${width}: ${outside.parts.join('\n')}`);
  assert.deepEqual(outside.parts, [], `at ${width} px`);
}

/** Walks the page with Tab: each stop has a ring, and is on the screen. Returns the stops as text. */
export async function checkFocus(page) {
  await page.evaluate(() => {
    document.activeElement?.blur();
    getSelection().removeAllRanges();
    document.body.setAttribute('tabindex', '-1');
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  const stops = [];
  for (let steps = 0; steps < 30; steps += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(describeFocus);
    if (!stop || stops.some((seen) => seen.path === stop.path)) break;
    assert.ok(stop.hasRing, `no focus ring: ${stop.html}`);
    assert.ok(stop.isSeen, `focus is out of sight: ${stop.html}`);
    stops.push(stop);
  }
  // After the last stop, the focus leaves the page or returns to the skip link, depending on the browser's version. The skip
  // link is visible while it has the focus, and would cover content of the next check.
  await page.evaluate(() => document.activeElement?.blur());
  return stops.map((stop) => stop.name);
}

/** Presses Tab until this element has the focus. */
export async function tabTo(page, selector) {
  for (let steps = 0; steps < 40; steps += 1) {
    if (await page.locator(selector).evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${selector}`);
}

function describeFocus() {
  let element = document.activeElement;
  if (!element || element === document.body) return null;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  const above = (node) => node.parentElement ?? node.getRootNode().host;
  const path = (node) => (above(node) ? `${path(above(node))}>${[...node.parentNode.children].indexOf(node)}` : node.tagName);
  // The ring of a radio button may be drawn around its label.
  const drawn = [element, ...(element.labels ?? []), element.firstElementChild].filter(Boolean);
  const hasRing = drawn.some((element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
  });
  const isSeen = drawn.some((element) => {
    const { width, height, bottom, right } = element.getBoundingClientRect();
    return width > 1 && height > 1 && bottom > 0 && right > 0;
  });
  const name = (element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '').trim();
  return { path: path(element), html: element.outerHTML.slice(0, 160), hasRing, isSeen, name: name || element.rel || element.tagName };
}
