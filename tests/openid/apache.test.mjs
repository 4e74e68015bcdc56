// Apache with mod_auth_openidc: a whole server that knows nothing of us but the issuer. It says what went wrong with a 200.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeted, journeys, stage, timeout } from './journeys.mjs';

const shared = stage([process.execPath, 'sites/apache.mjs']);

journeys('Apache', shared, {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  // Several values are one text there.
  as: (known) => ({ ...known, groups: known.groups.join(',') }),
  // An error that comes with `iss` is taken for a login that somebody else begins, and refused as such. With OIDCDefaultURL
  // it would begin that login: a loop.
  refuses: { denied: /Invalid Request/, state: /Bad Request/, iss: /Error in handling response type/ },
  logsOut: true,
});

test('Apache: the user is whom the server was told to take, and groups enter what is theirs', { timeout }, async () => {
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
