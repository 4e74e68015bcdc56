// Rails with OmniAuth, by the recipe of docs/recipes/rails.md. Its library has no PKCE, and does not check `iss`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeted, journeys, stage, timeout } from './journeys.mjs';

const site = { redirect: '/auth/signpost/callback', client: ['--no-pkce'] };
const shared = stage(['ruby', 'sites/rails_site.rb'], site);

journeys('Rails', shared, {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: { denied: /access_denied: You cancelled/, state: /csrf_detected: The login failed/, nonce: /Nonce does not match: The login failed/ },
  logsOut: true,
});

test('Rails: the subject identifies the row of the user', { timeout }, async () => {
  const person = shared.realm.person();
  const user = greeted(await person.open(`${shared.site.origin}/login`));
  assert.equal(user.signpost_id, user.sub);
});
