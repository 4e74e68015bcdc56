// The login page in each of its states: both themes, both widths, axe, focus.
import { test } from 'node:test';
import { checkLooks } from './looks.mjs';
import { Stage } from './stage.mjs';
import { LATE_STATES, STATES } from './states.mjs';

const stage = Stage.set();
const late = Stage.set();

for (const [name, reach] of Object.entries(STATES)) {
  test(`${name}`, async () => checkLooks(await reach(stage)));
}
for (const [name, reach] of Object.entries(LATE_STATES)) {
  test(`${name}`, async () => checkLooks(await reach(late)));
}
