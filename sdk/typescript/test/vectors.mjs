// The vectors that all SDKs share, and the program under test.
import { readFileSync } from 'node:fs';

export const ROOT = new URL('../../../', import.meta.url);
export const vectors = (name) => JSON.parse(readFileSync(new URL(`vectors/${name}.json`, ROOT), 'utf8'));

/** A reply of a simulated service. */
export const said = (status, json, headers = {}) =>
  new Response(json === undefined ? null : JSON.stringify(json), { status, headers: { 'content-type': 'application/json', ...headers } });

/** A service that replies with `play(method, path below the base, body)`. */
export const service = (play) => async (url, { method, body }) =>
  play(method, new URL(url).pathname.replace('/sandbox/v1', ''), body && JSON.parse(body));
