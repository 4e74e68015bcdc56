// The pages of OpenID Connect in each of their states and languages: both themes, both widths, axe, focus.
import { test } from 'node:test';
import { APPLICATION_STATES } from './applications.mjs';
import { checkLooks } from './looks.mjs';
import { PROXIED_STATES } from './proxied.mjs';
import { Stage } from './stage.mjs';

const stage = Stage.set();

for (const [name, reach] of Object.entries({ ...APPLICATION_STATES, ...PROXIED_STATES })) {
  for (const locale of ['en-US', 'es-ES']) {
    test(`${name}, ${locale}`, async () => checkLooks(await reach(stage, { locale })));
  }
}
