// Users' journeys at a site, for every relying party library.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Realm } from './realm.mjs';
import { Site } from './site.mjs';

/** The machine may be busy with a build. */
export const timeout = 120_000;

/** The tenant and the site of a test file, both set once the tests run. */
export function stage(program, options = {}) {
  const shared = { sites: [] };
  shared.start = async (...args) => {
    const site = await Site.start(shared.realm, ...args);
    shared.sites.push(site);
    return site;
  };
  before(async () => {
    shared.realm = await Realm.open();
    shared.site = await shared.start(program, options);
  });
  after(async () => {
    await Promise.all(shared.sites.map((site) => site.end()));
    if (process.env.SHOW_LOG) for (const site of shared.sites) console.error(site.output);
    await shared.realm?.close();
  });
  return shared;
}

/** Returns the user in a site's greeting, which must be there. */
export function greeted(page) {
  assert.equal(page.status, 200, `${page.url} ${page.text}`);
  const user = JSON.parse(page.text);
  assert.ok(user?.sub, page.text);
  return user;
}

/** Checks that no user is logged in at the site, for this reason: some sites report errors with a status of 200. */
export async function refused(shared, person, page, reason) {
  assert.equal(page.url.origin, shared.site.origin, `${page.status} ${page.url}`);
  assert.match(page.text, reason);
  const home = await person.open(`${shared.site.origin}/`);
  assert.equal(home.status, 401, home.text);
}

/** Returns a change of a parameter that the browser returns to the site. */
export function bringing(shared, name, value) {
  return (url) => {
    if (url.origin === shared.site.origin && url.searchParams.has('code')) {
      assert.ok(url.searchParams.has(name), `${name} in ${url}`);
      url.searchParams.set(name, value);
    }
    return url;
  };
}

/**
 * Tests the journeys at a site of this party. `claims`: the claims that it shows, `as` it shows them. `refuses`: the
 * response checks of its library → the error message; `denied` is a denied consent. `refreshes`, `logsOut`: its features.
 */
export function journeys(party, shared, { claims, refuses, refreshes, logsOut, as = (known) => known }) {
  const login = (person, options) => person.open(`${shared.site.origin}/login`, options);
  const shown = (user) => Object.fromEntries(claims.map((name) => [name, user[name]]));

  test(`${party}: a new user logs in, consents once, and has the same subject in another browser`, { timeout }, async () => {
    const person = shared.realm.person();
    const { sub } = greeted(await login(person));
    assert.equal(person.met.filter((page) => page === 'consent').length, 1, String(person.met));
    await shared.realm.describe(sub, { name: 'Ada Lovelace', groups: ['staff', 'night shift'] });
    const elsewhere = shared.realm.personWith(person.wallet);
    const user = greeted(await login(elsewhere));
    assert.deepEqual(elsewhere.met, ['login']);
    const known = await shared.realm.claims(sub);
    assert.equal(known.name, 'Ada Lovelace');
    for (const source of [user, user.userinfo ?? user]) assert.deepEqual(shown(source), shown(as(known)));
    const other = greeted(await login(shared.realm.person()));
    assert.notEqual(other.sub, sub);
  });

  test(`${party}: a user who denies consent is not logged in`, { timeout }, async () => {
    const person = shared.realm.person();
    const page = await login(person, { consent: 'deny' });
    assert.ok(person.met.includes('consent'), String(person.met));
    await refused(shared, person, page, refuses.denied);
  });

  for (const name of ['state', 'iss'].filter((check) => refuses[check])) {
    test(`${party}: another '${name}' is refused`, { timeout }, async () => {
      const person = shared.realm.person();
      const change = bringing(shared, name, 'http://localhost:9/another');
      await refused(shared, person, await login(person, { change }), refuses[name]);
    });
  }
  for (const name of ['nonce', 'at_hash'].filter((check) => refuses[check])) {
    test(`${party}: another '${name}' is refused`, { timeout }, async () => {
      const person = shared.realm.person();
      await refused(shared, person, await person.open(`${shared.site.origin}/login?spoil=${name}`), refuses[name]);
    });
  }

  if (refreshes) {
    test(`${party}: each refresh returns a new refresh token`, { timeout }, async () => {
      const person = shared.realm.person();
      const { sub } = greeted(await login(person));
      for (let times = 0; times < 3; times++) {
        const page = await person.open(`${shared.site.origin}/refresh`);
        assert.deepEqual(JSON.parse(page.text), { sub, rotated: true });
      }
    });
  }

  test(`${party}: a signed-in user needs no further confirmation`, { timeout }, async () => {
    const person = shared.realm.person();
    const { sub } = greeted(await login(person));
    assert.equal(greeted(await login(person)).sub, sub);
    assert.deepEqual(person.met, []);
  });

  if (logsOut) {
    test(`${party}: logging out at the site logs out at the provider`, { timeout }, async () => {
      const person = shared.realm.person();
      greeted(await login(person));
      const gone = await person.open(`${shared.site.origin}/logout`);
      assert.equal(gone.status, 401, `${gone.url} ${gone.text}`);
      assert.equal(gone.url.origin, shared.site.origin);
      await login(person);
      assert.deepEqual(person.met, ['login']);
    });
  }
}
