// The API reference: its layout, the links of its contents, and its language switch by keyboard and without scripts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NARROW, PATIENCE, Visitor, WIDE, launch } from './browser.mjs';
import { checkLooks, tabTo } from './looks.mjs';
import { Server } from './server.mjs';

const TONGUES = ['ts', 'py', 'go', 'rs', 'sh'];
let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
});
after(() => Promise.all([server.close(), browser.close()]));

async function open(options) {
  const visitor = await Visitor.arrive(browser, [server.origin], options);
  return { visitor, page: await visitor.open(`${server.origin}/v1/reference`) };
}

/** Returns whether only the examples of this language are visible. */
async function showsAlone(page, tongue) {
  for (const language of TONGUES) {
    const all = page.locator(`figure.in-${language}`);
    const shown = await all.evaluateAll((figures) => figures.filter((figure) => figure.checkVisibility()).length);
    assert.equal(shown, language === tongue ? await all.count() : 0, `${language} while ${tongue} is chosen`);
    assert.ok((await all.count()) > 25, language);
  }
}

test('the layout is right in both themes and all widths', async () => {
  const { visitor, page } = await open();
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  await checkLooks(page);
  // Expanded sections too, in the language with the longest lines.
  await page.locator('details').evaluateAll((all) => all.forEach((details) => details.toggleAttribute('open', true)));
  await page.locator('label[for="in-sh"]').click();
  await checkLooks(page);
  await visitor.leave();
});

test('arrow keys choose the language of the page', async () => {
  const { visitor, page } = await open();
  await showsAlone(page, 'ts');
  // The skip link bypasses the contents.
  await tabTo(page, '.skip[href="#content"]');
  await page.keyboard.press('Enter');
  await tabTo(page, '#in-ts');
  for (const tongue of TONGUES.slice(1)) {
    await page.keyboard.press('ArrowRight');
    assert.ok(await page.locator(`#in-${tongue}`).isChecked(), tongue);
    await showsAlone(page, tongue);
  }
  await visitor.leave();
});

test('the page is complete without scripts', async () => {
  const { visitor, page } = await open({ javaScriptEnabled: false });
  assert.equal(await page.locator('script').count(), 0);
  await page.locator('label[for="in-py"]').click();
  assert.ok(await page.locator('#createSession figure.in-py').isVisible());
  assert.ok(!(await page.locator('#createSession figure.in-ts').isVisible()));
  await page.locator('#createSession details summary').first().click();
  assert.ok(await page.locator('[id="createSession.201.page_url"]').isVisible());
  await visitor.leave();
});

for (const viewport of [WIDE, NARROW]) {
  test(`links of the contents are visible below the switch, at ${viewport.width} px`, async () => {
    const { visitor, page } = await open({ viewport });
    const links = page.locator('.contents a');
    const shown = (await links.all()).length;
    assert.ok(shown > 40, `${shown} links`);
    for (const link of await links.all()) {
      if (!(await link.isVisible())) continue;
      await link.focus();
      await page.keyboard.press('Enter');
      const target = await link.evaluate(({ hash }) => hash.slice(1));
      const isInView = () =>
        page.evaluate((id) => {
          const [part, bar] = [document.getElementById(id), document.querySelector('.bar')].map((element) => element.getBoundingClientRect());
          const atEnd = Math.abs(document.documentElement.scrollHeight - innerHeight - scrollY) < 2;
          return part.top >= bar.bottom - bar.height - 1 && (part.top < innerHeight || atEnd);
        }, target);
      const deadline = Date.now() + PATIENCE;
      while (!(await isInView())) assert.ok(Date.now() < deadline, `${target} is not in view`);
    }
    if (viewport === NARROW) {
      await page.locator('.to-contents').click();
      assert.ok(await page.locator('#contents').evaluate((nav) => nav.getBoundingClientRect().top >= 0));
      assert.equal(await page.locator('.contents ul ul').first().isVisible(), false, 'phones show only the subjects');
      await page.locator('.overview a').first().click();
      await page.waitForURL(/#listSessions$/);
    }
    await visitor.leave();
  });
}
