// Ten calls at once with real clients, at the default rate limit of ten messages a second. The clients do not retry, so
// each call must succeed at once or after a wait for its turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client as NewClient, SSEClientTransport as NewSse, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { DEFAULT_LIMIT, program, run } from './program.mjs';

const running = program(DEFAULT_LIMIT);
const timeout = 60_000;
const INFO = { name: 'parallel-test', version: '1.0.0' };

async function connected(make) {
  const { client, transport } = make();
  await client.connect(transport);
  return client;
}

const details = (client, atmId) => client.callTool({ name: 'get_atm_details', arguments: { atmId } });

/** Returns ten IDs of ATMs; fewer than ten may be near. */
async function tenIds(client) {
  const found = await client.callTool({ name: 'find_nearest_bitcoin_atm', arguments: { location: 'Austin, TX', limit: 10 } });
  const ids = found.structuredContent.atms.map((atm) => atm.id);
  return Array.from({ length: 10 }, (_, number) => ids[number % ids.length]);
}

const of = (results) => results.map((result) => (result.isError ? result : result.structuredContent.id));

for (const [name, make] of Object.entries({
  '@modelcontextprotocol/sdk over /mcp': () => ({ client: new Client(INFO), transport: new StreamableHTTPClientTransport(new URL(running.mcp)) }),
  '@modelcontextprotocol/sdk over /sse': () => ({ client: new Client(INFO), transport: new SSEClientTransport(new URL(running.sse)) }),
  '@modelcontextprotocol/client over /mcp': () => ({ client: new NewClient(INFO), transport: new NewHttp(new URL(running.mcp)) }),
  '@modelcontextprotocol/client over /mcp, negotiating': () => ({
    client: new NewClient(INFO, { versionNegotiation: { mode: 'auto' } }), transport: new NewHttp(new URL(running.mcp)),
  }),
  '@modelcontextprotocol/client over /sse': () => ({ client: new NewClient(INFO), transport: new NewSse(new URL(running.sse)) }),
})) {
  test(`ten calls in one session: ${name}`, { timeout }, async () => {
    const client = await connected(make);
    try {
      const ids = await tenIds(client);
      assert.deepEqual(of(await Promise.all(ids.map((id) => details(client, id)))), ids);
    } finally {
      await client.close();
    }
  });

  test(`ten sessions: ${name}`, { timeout }, async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, () => connected(make)));
    try {
      const ids = await tenIds(clients[0]);
      assert.deepEqual(of(await Promise.all(ids.map((id, number) => details(clients[number], id)))), ids);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  });
}

const python = async (interpreter, ...args) => {
  const { requested, returned } = JSON.parse((await run(interpreter, args)).stdout);
  assert.equal(requested.length, 10);
  assert.deepEqual(returned, requested);
};

for (const [client, path] of [['session', 'mcp'], ['session', 'sse'], ['client', 'mcp']]) {
  for (const sessions of ['one', 'ten']) {
    test(`${sessions} python ${client} over /${path}`, { timeout }, () => python('venv/bin/python', 'parallel.py', client, path, running[path], sessions));
  }
}

test('langchain-mcp-adapters', { timeout }, () => python('langchain/venv/bin/python', 'langchain/parallel.py', running.mcp));
