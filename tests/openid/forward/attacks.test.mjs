// Requests of a hostile client to a real proxy with forward auth, in addition to forward.test.mjs.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Deployment, HTML, REMOTE, timeout } from './deployment.mjs';
import { PROXIES } from './proxy.mjs';

for (const kind of PROXIES) {
  describe(kind.name, () => {
    let deployment;

    before(async () => (deployment = await Deployment.start(kind)));
    after(() => deployment?.close());

    /** Sends bytes, and returns the response until the proxy closes. */
    async function sendBytes(text) {
      const socket = connect(deployment.port, '127.0.0.1');
      // The response before a reset is enough.
      socket.on('error', () => {}).write(text.replaceAll('\n', '\r\n'));
      return (await socket.setEncoding('utf8').toArray().catch(() => [])).join('');
    }

    const statusOf = (reply) => Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 0);

    test('a client cannot remove identity headers', { timeout }, async () => {
      const { cookie } = await deployment.colleague();
      const named = [...REMOTE, 'Cookie', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Uri', 'X-Forwarded-Method'];
      for (const connection of [...named, named.join(', '), `close, ${named.join(',')}`]) {
        const reply = await deployment.send('/', { headers: { ...HTML, cookie, connection } });
        if (reply.status !== 200) continue;
        const sent = JSON.parse(reply.text).headers.filter(([name]) => /^remote[-_]/i.test(name));
        assert.equal(sent.length, REMOTE.length, `Connection: ${connection}: ${JSON.stringify(sent)}`);
      }
      const reached = await deployment.reaches(async () => {
        const reply = await deployment.send('/', { headers: { ...HTML, connection: named.join(', ') } });
        assert.ok([302, 303, 400].includes(reply.status), `${reply.status}`);
      });
      assert.equal(reached, 0);
    });

    test('a long address leads back to the application', { timeout }, async () => {
      const { person } = await deployment.colleague();
      for (const path of [
        `/${'a'.repeat(2047)}`,
        `/${'%2F'.repeat(682)}`,
        `/?${'a=&'.repeat(682)}`,
        `/${'a'.repeat(2048)}`,
        `/${'%2F'.repeat(1500)}`,
      ]) {
        const elsewhere = deployment.realm.personWith(person.wallet);
        const page = await elsewhere.open(`${deployment.origin}${path}`);
        assert.equal(page.status, 200, `${path.slice(0, 9)} ${path.length}: ${page.text.slice(0, 300)}`);
        assert.equal(JSON.parse(page.text).url, path.length > 2048 ? '/' : path);
      }
    });

    test('a spelling of a host is not another application', { timeout }, async () => {
      const { cookie } = await deployment.colleague();
      const { port } = deployment;
      for (const [host, isIn] of [
        [`localhost:${port}`, true],
        [`LOCALHOST:${port}`, true],
        [`localhost.:${port}`, false],
        [`evil.localhost:${port}`, false],
        [`localhost.evil.example:${port}`, false],
        [`xn--lcalhost-c2b:${port}`, false],
        [`127.0.0.1:${port}`, false],
        [`[::1]:${port}`, false],
        [`${'a'.repeat(1000)}.example`, false],
      ]) {
        const reached = await deployment.reaches(async () => {
          const reply = await deployment.send('/', { headers: { host, cookie } });
          if (isIn) assert.equal(reply.status, 200, host);
        });
        assert.equal(reached, isIn ? 1 : 0, host);
      }
    });

    test('a request with two hosts is authorized for one', { timeout }, async () => {
      const { cookie } = await deployment.colleague();
      const { port } = deployment;
      const own = `localhost:${port}`;
      for (const [line, hosts] of [
        ['GET / HTTP/1.1', ['evil.example', own]],
        ['GET / HTTP/1.1', [own, own]],
        [`GET http://evil.example/ HTTP/1.1`, [own]],
        [`GET http://${own}/ HTTP/1.1`, ['evil.example']],
        ['GET / HTTP/1.0', []],
        ['GET / HTTP/1.1', []],
      ]) {
        const head = [line, ...hosts.map((host) => `Host: ${host}`), `Cookie: ${cookie}`, 'Connection: close'].join('\n');
        let reply;
        const reached = await deployment.reaches(async () => (reply = await sendBytes(`${head}\n\n`)));
        const { headers } = reached ? JSON.parse(reply.slice(reply.indexOf('{'), reply.lastIndexOf('}') + 1)) : { headers: [] };
        const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
        assert.ok(!reached || host === own, `${line} ${hosts}: ${host}`);
      }
    });

    test('line breaks in requests create no header', { timeout }, async () => {
      const { cookie } = await deployment.colleague();
      for (const [line, header] of [
        ['GET /%0d%0aRemote-Groups:%20admins HTTP/1.1', 'X: y'],
        ['GET / HTTP/1.1', 'X: y\n Remote-Groups: admins'],
        ['GET / HTTP/1.1', 'X: y\rRemote-Groups: admins'],
        ['GET / HTTP/1.1', 'Remote-Groups : admins'],
        ['GET / HTTP/1.1', 'Remote\u0000-Groups: admins'],
      ]) {
        let reply;
        const bytes = `${line}\nHost: localhost:${deployment.port}\nCookie: ${cookie}\n${header}\nConnection: close\n\n`;
        const reached = await deployment.reaches(async () => (reply = await sendBytes(bytes)));
        assert.ok(reached === 0 || !/"remote[-_ ]groups ?","admins"/i.test(reply), `${line} ${header}: ${reply}`);
      }
      const sent = await deployment.send('/%0d%0aSet-Cookie:%20x=1', { headers: HTML });
      assert.equal(sent.headers['set-cookie'], undefined);
    });

    test('a cookie in another encoding does not block the login', { timeout }, async () => {
      const { cookie } = await deployment.colleague();
      const head = `GET / HTTP/1.1\nHost: localhost:${deployment.port}\nCookie: name=Zoë; ${cookie}\nConnection: close`;
      assert.equal(statusOf(await sendBytes(`${head}\n\n`)), 200);
    });

    test('a session is invalid at another port', { timeout }, async () => {
      const { cookie } = await deployment.colleague();
      const { client, port, realm } = deployment;
      const ask = async (port) => {
        const reported = { method: 'GET', proto: 'http', uri: '/', host: `localhost:${port}` };
        const headers = Object.fromEntries(Object.entries(reported).map(([name, value]) => [`x-forwarded-${name}`, value]));
        const question = `http://127.0.0.1:${realm.server.port}/forward/caddy?client=${client}`;
        return (await fetch(question, { headers: { ...headers, cookie } })).status;
      };
      assert.deepEqual([await ask(port), await ask(port + 1)], [200, 401]);
    });
  });
}
