// Identity headers in the spellings that applications treat as equal, sent through real proxies to PHP.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Deployment, REMOTE, timeout } from './deployment.mjs';
import { PhpApplication } from './php.mjs';
import { PROXIES } from './proxy.mjs';

/** All characters of header names other than letters and digits (RFC 9110, 5.6.2). */
const MARKS = [..."!#$%&'*+-.^_`|~"];
/** Characters that are invalid in header names, and that PHP replaces in names of variables. */
const INVALID_MARKS = [' ', '[', '\t', '\u00a0'];

const spell = (mark) => REMOTE.map((name) => name.replace('-', mark));
const cases = (name) => [name, name.toLowerCase(), name.toUpperCase()];

/** Sends a request with exactly these header lines: `{status, variables}`. */
async function sendLines(port, lines) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(Buffer.from(['GET / HTTP/1.0', `Host: localhost:${port}`, ...lines, '', ''].join('\r\n'), 'latin1'));
  const reply = (await socket.toArray()).join('');
  const body = Buffer.from(reply.slice(reply.indexOf('\r\n\r\n') + 4), 'latin1').toString('utf8');
  const status = Number(reply.split(' ')[1]);
  return { status, variables: status === 200 ? JSON.parse(body).variables : undefined };
}

for (const kind of PROXIES) {
  describe(`PHP behind ${kind.name}`, () => {
    let deployment, login, expected;

    before(async () => {
      deployment = await Deployment.start(kind, PhpApplication);
      const { cookie, sub } = await deployment.colleague();
      const claims = await deployment.realm.claims(sub);
      login = `Cookie: ${cookie}`;
      expected = {
        HTTP_REMOTE_USER: claims.preferred_username,
        HTTP_REMOTE_NAME: 'Zoë Łukasz',
        HTTP_REMOTE_EMAIL: claims.email,
        HTTP_REMOTE_GROUPS: 'staff,night shift',
        HTTP_REMOTE_SUB: sub,
      };
    });
    after(() => deployment?.close());

    const send = (lines) => sendLines(deployment.port, [login, ...lines]);

    async function assertIdentity(lines) {
      const { status, variables } = await send(lines);
      assert.equal(status, 200, lines.join());
      assert.deepEqual(variables, expected, lines.join());
    }

    test('gets the identity of the session', { timeout }, () => assertIdentity([]));

    test('gets no header of a client in any spelling', { timeout }, async () => {
      for (const name of MARKS.flatMap(spell).flatMap(cases)) await assertIdentity([`${name}: admin`]);
    });

    test('gets no header of a client in a mixture of spellings', { timeout }, async () => {
      const names = MARKS.flatMap(spell);
      await assertIdentity(names.map((name) => `${name}: admin`));
      await assertIdentity(names.toReversed().flatMap((name) => [`${name}: admin`, `${name.toUpperCase()}: root`]));
      await assertIdentity([...spell('.'), ...spell('.'), ...spell('_')].map((name) => `${name}: admin`));
    });

    test('gets no header with an invalid name', { timeout }, async () => {
      for (const name of INVALID_MARKS.flatMap(spell)) {
        const { status, variables } = await send([`${name}: admin`]);
        assert.ok(status === 400 || status === 200, `${name}: ${status}`);
        if (status === 200) assert.deepEqual(variables, expected, name);
      }
    });
  });
}
