// The package's types against openapi.yaml and the tools of the running server, and in programs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import openapi, { astToString } from 'openapi-typescript';
import { Server } from './site.mjs';
import { ROOT } from './vectors.mjs';

const made = new URL('made/', import.meta.url);
mkdirSync(made, { recursive: true });
// A member with a default is optional in requests.
const describe = async (source, file) => writeFileSync(new URL(file, made), astToString(await openapi(source, { defaultNonNullable: false })));

test('types match the schemas of the server', async () => {
  const server = await Server.start();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const { result } = await (await fetch(`http://${server.listen}/mcp`, { method: 'POST', headers, body })).json();
  await server.close();
  const schemas = result.tools.flatMap(({ name, inputSchema, outputSchema }) => [[`${name}_in`, inputSchema], [`${name}_out`, outputSchema]]);
  assert.equal(schemas.length, 8);
  const tools = { openapi: '3.1.0', info: { title: 'tools', version: '1' }, paths: {}, components: { schemas: Object.fromEntries(schemas) } };
  await describe(tools, 'tools.d.ts');
  await describe(new URL('openapi.yaml', ROOT), 'openapi.d.ts');
  const tsc = new URL('../node_modules/.bin/tsc', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(tsc, ['-p', new URL('types', import.meta.url).pathname]).catch((error) => error);
  assert.equal(stdout, '');
});
