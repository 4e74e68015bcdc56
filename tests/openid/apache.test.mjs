// Apache with mod_auth_openidc, configured only with the issuer. It reports errors with a status of 200.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeted, journeys, stage, timeout } from './journeys.mjs';

const shared = stage([process.execPath, 'sites/apache.mjs']);

journeys('Apache', shared, {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  // Its headers contain multiple values as a single text.
  as: (known) => ({ ...known, groups: known.groups.join(',') }),
  // It treats an error with `iss` as a third-party initiated login, and rejects it. With OIDCDefaultURL, it would start that
  // login: a loop.
  refuses: { denied: /Invalid Request/, state: /Bad Request/, iss: /Error in handling response type/ },
  logsOut: true,
});

test('Apache: the configured claim is the user, and groups restrict access', { timeout }, async () => {
  const person = shared.realm.person();
  const user = greeted(await person.open(`${shared.site.origin}/login`));
  assert.equal(user.REMOTE_USER, user.preferred_username);
  assert.equal((await person.open(`${shared.site.origin}/staff`)).status, 401);
  await shared.realm.describe(user.sub, { name: 'Ada Lovelace', groups: ['staff'] });
  const elsewhere = shared.realm.personWith(person.wallet);
  greeted(await elsewhere.open(`${shared.site.origin}/login`));
  greeted(await elsewhere.open(`${shared.site.origin}/staff`));
});

test('Apache: the server refreshes its tokens', { timeout }, async () => {
  const person = shared.realm.person();
  const before = greeted(await person.open(`${shared.site.origin}/login`));
  const query = new URLSearchParams({ refresh: `${shared.site.origin}/`, access_token: before.access_token });
  const after = greeted(await person.open(`${shared.site.origin}/callback?${query}`));
  assert.equal(after.sub, before.sub);
  assert.notEqual(after.access_token, before.access_token);
});
