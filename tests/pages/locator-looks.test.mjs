// The layout of the locator's pages without content, with several pages, and with reported ATMs.
import { test } from 'node:test';
import { checkLooks } from './looks.mjs';
import { LOCATOR_SETTINGS, LOCATOR_STATES, prepareLocator } from './locators.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set(LOCATOR_SETTINGS, async (opened) => {
  opened.locator = prepareLocator(opened.server);
  await opened.locator;
});
const CHECKED = ['near user', 'city reported', 'city second page', 'machine quoted', 'machine doubted', 'machine closed', 'machine bare', 'no such page', 'machine dropped'];

for (const name of CHECKED) {
  for (const locale of ['en-US', 'es-ES']) {
    test(`looks: ${name} (${locale})`, async () => {
      await checkLooks(await LOCATOR_STATES[`locator ${name}`](stage, { locale }));
    });
  }
}
