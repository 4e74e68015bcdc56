// Calls of users with a scripted service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Signpost } from '@signpost/sdk';
import { said } from './vectors.mjs';

/** A client, and the requests that it sends. */
function recorded(replies) {
  const sent = [];
  const fetch = async (url, { method, headers, body }) => {
    sent.push([method, url.pathname.replace('/sandbox/v1', '') + url.search, body && JSON.parse(body), headers.get('idempotency-key')]);
    return replies.shift();
  };
  return { users: new Signpost('k', { fetch, clock: { sleep: async () => undefined } }).users, sent };
}

test('a user is created once, although the first reply is lost', async () => {
  const { users, sent } = recorded([said(503, { error: { code: 'unavailable', message: 'no', details: {} } }), said(201, { id: 'usr_1' })]);
  assert.equal((await users.create('shop.example', { external_id: '42', metadata: { plan: 'pro' } })).id, 'usr_1');
  const [[method, path, body, key], second] = sent;
  assert.deepEqual([method, path, body], ['POST', '/domains/shop.example/users', { external_id: '42', metadata: { plan: 'pro' } }]);
  assert.match(key, /^[0-9a-f-]{36}$/);
  assert.deepEqual(second, sent[0]);
});

test('sign-ins are listed and ended', async () => {
  const { users, sent } = recorded([said(200, { sign_ins: [{ id: 'sgn_1' }] }), said(204), said(204)]);
  assert.equal((await users.signIns('dom_1', 'usr_1', { limit: 5 })).sign_ins[0].id, 'sgn_1');
  await users.endSignIn('dom_1', 'usr_1', 'sgn_1');
  await users.endSignIns('dom_1', 'usr_1');
  assert.deepEqual(sent.map(([method, path]) => [method, path]), [
    ['GET', '/domains/dom_1/users/usr_1/sign-ins?limit=5'], ['DELETE', '/domains/dom_1/users/usr_1/sign-ins/sgn_1'], ['DELETE', '/domains/dom_1/users/usr_1/sign-ins'],
  ]);
});
