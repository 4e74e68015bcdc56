// Screenshots of every state in both themes, at both widths, in both languages, for review: `node pictures.mjs FOLDER
// [NAME…]`. It is not a test.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNT_STATES, LATE_ACCOUNT_STATES } from './accounts.mjs';
import { APPLICATION_STATES } from './applications.mjs';
import { CONSOLE_STATES } from './consoles.mjs';
import { CARD_PICTURES, LOCATOR_SETTINGS, LOCATOR_STATES } from './locators.mjs';
import { SIZES, THEMES } from './looks.mjs';
import { PROXIED_STATES } from './proxied.mjs';
import { Stage } from './stage.mjs';
import { LATE_STATES, STATES } from './states.mjs';

const LANGUAGES = { en: 'en-US', es: 'es-ES' };
const [folder, ...wanted] = process.argv.slice(2);
if (!folder) throw new Error('node pictures.mjs FOLDER [NAME…]');
mkdirSync(folder, { recursive: true });

async function draw(states, languages = LANGUAGES, settings = {}) {
  const chosen = Object.entries(states).filter(([name]) => wanted.length === 0 || wanted.includes(name));
  if (chosen.length === 0) return;
  const stage = new Stage();
  try {
    await stage.open(settings);
    for (const [name, reach] of chosen) {
      for (const [language, locale] of Object.entries(languages)) {
        const page = await reach(stage, { locale }).catch((error) => console.error(`${name}: ${error.message}`));
        for (const viewport of page ? SIZES : []) {
          // Only the visible part of a frame is drawn.
          await page.setViewportSize(name.startsWith('card ') ? { ...viewport, height: 2600 } : viewport);
          for (const colorScheme of THEMES) {
            await page.emulateMedia({ colorScheme });
            if (name.startsWith('card ')) await page.frameLocator('iframe').locator(`html[style*="color-scheme: ${colorScheme}"]`).waitFor();
            const file = `${name.replaceAll(' ', '-')}-${language}-${colorScheme}-${viewport.width}.png`;
            await page.screenshot({ path: join(folder, file), fullPage: true });
          }
        }
        await stage.clear().catch((error) => console.error(`${name}: ${error.message}`));
      }
    }
  } finally {
    await stage.close();
  }
}

await draw(STATES);
await draw(LATE_STATES);
await draw(ACCOUNT_STATES);
await draw(APPLICATION_STATES);
await draw(PROXIED_STATES);
await draw(CONSOLE_STATES, { en: 'en-US' });
await draw({ ...LOCATOR_STATES, ...CARD_PICTURES }, LANGUAGES, LOCATOR_SETTINGS);
for (const [name, reach] of Object.entries(LATE_ACCOUNT_STATES)) {
  for (const [language, locale] of Object.entries(LANGUAGES)) await draw({ [name]: reach }, { [language]: locale });
}
