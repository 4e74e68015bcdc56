// Forward auth with real proxies (docs/forward-auth.md): access to the application, and the user's identity.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Deployment, HTML, REMOTE, timeout } from './deployment.mjs';
import { PROXIES } from './proxy.mjs';

/** The header names that are equal for applications that turn hyphens into underscores. */
const SPELLINGS = ['-', '_', '.'].flatMap((mark) => REMOTE.flatMap((name) => [name.replace('-', mark), name.replace('-', mark).toLowerCase()]));

for (const kind of PROXIES) {
  describe(kind.name, () => {
    let deployment, realm, proxy, port;

    before(async () => {
      deployment = await Deployment.start(kind);
      ({ realm, proxy, port } = deployment);
    });
    after(() => deployment?.close());

    const send = (...request) => deployment.send(...request);
    const reaches = (act) => deployment.reaches(act);
    const colleague = (groups) => deployment.colleague(groups);
    const origin = () => deployment.origin;

    test('requests without a login are rejected', { timeout }, async () => {
      const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-version': '13' };
      const lies = {
        ...Object.fromEntries(SPELLINGS.map((name) => [name, 'admin'])),
        'X-Forwarded-Uri': '/.signpost/start',
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Method': 'OPTIONS',
        'X-Original-URL': `http://localhost:${port}/.signpost/start`,
        'X-Original-Method': 'OPTIONS',
      };
      const start = new RegExp(`^${origin()}/\\.signpost/start\\?client=cli_`);
      const reached = await reaches(async () => {
        for (const [method, headers, sent] of [
          ['GET', HTML, true],
          ['HEAD', HTML, true],
          ['GET', { ...HTML, ...lies }, true],
          ['GET', { ...HTML, cookie: 'signpost_app=x; signpost_state=y' }, true],
          ['POST', { ...HTML, 'content-length': '1' }, false],
          ['GET', { accept: '*/*' }, false],
          ['GET', { ...lies, accept: '*/*' }, false],
          ['GET', { ...HTML, 'x-requested-with': 'XMLHttpRequest' }, false],
          ['GET', { ...HTML, 'sec-fetch-mode': 'cors' }, false],
          ['GET', upgrade, false],
        ]) {
          const reply = await send('/a', { method, headers, body: method === 'POST' ? 'x' : undefined });
          const details = `${method} ${JSON.stringify(headers)}: ${reply.status} ${reply.headers.location} ${proxy.output}`;
          if (sent) {
            assert.ok([302, 303].includes(reply.status), details);
            assert.match(reply.headers.location, start, details);
          } else {
            assert.equal(reply.status, 401, details);
            assert.equal(reply.headers.location, undefined, details);
          }
        }
      });
      assert.equal(reached, 0);
    });

    test('spellings of a path do not bypass authorization', { timeout }, async () => {
      const reached = await reaches(async () => {
        for (const path of [
          '/a%2Fb',
          '/..%2fetc',
          '/../etc',
          '//evil.example/',
          '/.signpost/../secret',
          '/.signpost/..%2fsecret',
          '/.signpost%2f..%2fsecret',
          '/.signpost/auth',
          '/.signpost',
          '/.SIGNPOST/../secret',
          '/x/.signpost/start',
          '/%2e%73ignpost/../secret',
        ]) {
          const reply = await send(path, { headers: HTML });
          assert.ok(reply.status >= 300, `${path}: ${reply.status} ${reply.text}`);
          const to = reply.headers.location;
          assert.ok(to === undefined || to === '/' || new URL(to).host === `localhost:${port}`, `${path}: ${to}`);
        }
      });
      assert.equal(reached, 0);
    });

    test('a user who is not allowed sees an error', { timeout }, async () => {
      const reached = await reaches(async () => {
        const person = realm.person();
        const page = await person.open(`${origin()}/report`);
        assert.equal(page.status, 403, page.text);
        assert.match(page.text, /the operator has not named you/);
      });
      assert.equal(reached, 0);
    });

    test('an allowed user gets in with five identity headers', { timeout }, async () => {
      const { person, sub } = await colleague();
      const known = await realm.claims(sub);
      const elsewhere = realm.personWith(person.wallet);
      const path = '/a%2Fb/..%2Fc?to=%2F&x=1';
      const page = await elsewhere.open(`${origin()}${path}`);
      assert.equal(page.status, 200, page.text);
      const received = JSON.parse(page.text);
      assert.equal(received.url, path);
      const cookie = received.headers.find(([name]) => name.toLowerCase() === 'cookie')[1];
      const lies = Object.fromEntries(SPELLINGS.map((name) => [name, 'admin']));
      const expected = {
        'remote-user': known.preferred_username,
        'remote-name': 'Zoë Łukasz',
        'remote-email': known.email,
        'remote-groups': 'staff,night shift',
        'remote-sub': sub,
      };
      for (const method of ['GET', 'POST', 'DELETE']) {
        for (const headers of [{}, lies]) {
          const reply = await send('/', { method, headers: { ...headers, cookie }, body: method === 'POST' ? 'x' : undefined });
          assert.equal(reply.status, 200, reply.text);
          const sent = JSON.parse(reply.text);
          assert.equal(sent.method, method);
          const remote = sent.headers.filter(([name]) => /^remote/i.test(name));
          assert.deepEqual(Object.fromEntries(remote.map(([name, value]) => [name.toLowerCase(), value])), expected);
          assert.equal(remote.length, REMOTE.length, JSON.stringify(remote));
        }
      }
      assert.equal((await send('/', { method: 'HEAD', headers: { cookie } })).status, 200);
    });

    test('a removed user sees an error', { timeout }, async () => {
      const { person, sub, cookie } = await colleague();
      await realm.describe(sub, { name: null, groups: ['guests'] });
      const reached = await reaches(async () => {
        for (const method of ['GET', 'POST']) {
          const reply = await send('/a', { method, headers: { ...HTML, cookie }, body: method === 'POST' ? 'x' : undefined });
          assert.equal(reply.status, 403, reply.text);
          assert.match(reply.text, /does not let you in/);
          assert.ok(reply.text.includes(sub), reply.text);
        }
        assert.equal((await person.open(`${origin()}/`)).status, 403);
      });
      assert.equal(reached, 0);
    });

    test('unknown claims are not taken from the client', { timeout }, async () => {
      const { cookie } = await colleague(['staff']);
      const reply = await send('/', { headers: { cookie, 'Remote-Groups': 'admin', Remote_Groups: 'admin', 'Remote.Groups': 'admin', 'Remote-Email': 'a@b' } });
      const groups = JSON.parse(reply.text).headers.filter(([name]) => /^remote.groups$/i.test(name));
      assert.deepEqual(groups.map(([, value]) => value), ['staff']);
    });

    test('a WebSocket is authorized like other requests', { timeout }, async () => {
      const { cookie, sub } = await colleague();
      const known = await realm.claims(sub);
      const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-version': '13' };
      const reply = await send('/socket', { headers: { ...upgrade, cookie, 'Remote-User': 'admin' } });
      assert.equal(reply.status, 101, reply.text);
      assert.equal(reply.headers['x-user'], known.preferred_username);
    });

    test('duplicate cookies are rejected', { timeout }, async () => {
      const { cookie } = await colleague();
      const session = /signpost_app=[\w-]+/.exec(cookie)[0];
      assert.equal((await send('/', { headers: { cookie: session } })).status, 200);
      const reached = await reaches(async () => {
        assert.equal((await send('/', { headers: { cookie: `${session}; ${session}` } })).status, 401);
        assert.equal((await send('/', { headers: { cookie: `signpost_app=x; ${session}` } })).status, 401);
      });
      assert.equal(reached, 0);
    });

    test('a logout ends the session, and a link does not', { timeout }, async () => {
      const { cookie } = await colleague();
      const page = await send('/.signpost/logout', { headers: { ...HTML, cookie } });
      assert.equal(page.status, 200, page.text);
      assert.equal((await send('/', { headers: { cookie } })).status, 200);
      const token = /name="token" value="([\w-]+)"/.exec(page.text)[1];
      const form = { 'content-type': 'application/x-www-form-urlencoded', cookie };
      const post = (origin) => send('/.signpost/logout', { method: 'POST', headers: { ...form, origin }, body: `token=${token}` });
      assert.equal((await post('https://evil.example')).status, 403);
      const out = await post(origin());
      assert.equal(out.status, 200, out.text);
      assert.equal((await send('/', { headers: { cookie } })).status, 401);
    });

    test('the login pages load their files from the host', { timeout }, async () => {
      const page = await send('/.signpost/logout', { headers: HTML });
      const sheet = /rel="stylesheet" href="([^"]+)"/.exec(page.text)[1];
      const loaded = await send(sheet);
      assert.equal(loaded.status, 200);
      assert.match(loaded.headers['content-type'], /^text\/css/);
    });

    test('requests are rejected while the server is stopped', { timeout }, async () => {
      const { cookie } = await colleague();
      await realm.server.kill();
      const reached = await reaches(async () => {
        for (const headers of [{ cookie }, { ...HTML, cookie }, HTML]) {
          const reply = await send('/', { headers });
          assert.ok(reply.status >= 500, `${reply.status} ${reply.text}`);
        }
      });
      assert.equal(reached, 0);
      await realm.server.start();
      assert.equal((await send('/', { headers: { cookie } })).status, 200, 'a session outlives a restart');
    });
  });
}
