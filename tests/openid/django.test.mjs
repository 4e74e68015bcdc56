// mozilla-django-oidc: Django's own users and sessions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeted, journeys, stage, timeout } from './journeys.mjs';

const shared = stage(['venv/bin/python', 'sites/django_site.py'], { redirect: '/oidc/callback/' });

journeys('mozilla-django-oidc', shared, {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: { denied: /the login failed/, state: /state not found in session/, nonce: /Nonce verification failed/ },
  logsOut: true,
});

test('mozilla-django-oidc: the e-mail address identifies the user', { timeout }, async () => {
  const people = [shared.realm.person(), shared.realm.person()];
  const users = [];
  for (const person of people) users.push(greeted(await person.open(`${shared.site.origin}/login`)));
  assert.notEqual(users[0].id, users[1].id);
  for (const user of users) assert.equal(user.found_by, user.email);
  const again = greeted(await shared.realm.personWith(people[0].wallet).open(`${shared.site.origin}/login`));
  assert.equal(again.id, users[0].id);
});

test('mozilla-django-oidc: an old login is renewed without a page', { timeout }, async () => {
  const person = shared.realm.person();
  const { sub } = greeted(await person.open(`${shared.site.origin}/login`));
  const journey = [];
  const page = await person.open(`${shared.site.origin}/age`, { change: (url) => (journey.push(url), url) });
  assert.equal(greeted(page).sub, sub);
  assert.ok(journey.some((url) => url.searchParams.get('prompt') === 'none'), journey.join('\n'));
  assert.deepEqual(person.met, []);
});
