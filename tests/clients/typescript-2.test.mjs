// The official TypeScript client for all revisions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NEWEST, program, useEverything } from './program.mjs';

const running = program();
const http = () => new StreamableHTTPClientTransport(new URL(running.mcp));
const sse = () => new SSEClientTransport(new URL(running.sse));

for (const [name, transport, mode, revision] of [
  ['/mcp', http, 'legacy', '2025-11-25'],
  ['/mcp, negotiating', http, 'auto', NEWEST],
  ['/sse', sse, 'legacy', '2025-11-25'],
]) {
  test(`@modelcontextprotocol/client over ${name}`, async () => {
    const client = new Client({ name: 'client-test', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(transport());
    try {
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      await useEverything(client);
    } finally {
      await client.close();
    }
  });
}
