// The official TypeScript client lists and calls the tools over both transports.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const TOOLS = ['find_nearest_bitcoin_atm', 'get_atm_details', 'check_atm_status', 'list_atms_by_city'];
const folder = mkdtempSync(join(tmpdir(), 'signpost-'));
let server;
let addresses;

before(async () => {
  const args = ['serve', '--json', '--listen', '127.0.0.1:0', '--data-dir', folder, '--services', 'atm'];
  const env = { ...process.env, SIGNPOST_RATE_LIMIT_MCP: 'off', SIGNPOST_RATE_LIMIT_SSE: 'off' };
  server = spawn(process.env.SIGNPOST, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  addresses = await new Promise((resolve, reject) => {
    let text = '';
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    server.stdout.on('data', (chunk) => {
      text += chunk;
      try { resolve(JSON.parse(text)); } catch { /* not whole yet */ }
    });
  });
});

after(async () => {
  server.removeAllListeners('exit');
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  assert.equal(await ended, 0);
  rmSync(folder, { recursive: true });
});

const transports = {
  '/mcp': () => new StreamableHTTPClientTransport(new URL(addresses.mcp)),
  '/sse': () => new SSEClientTransport(new URL(addresses.sse)),
};

for (const [path, transport] of Object.entries(transports)) {
  test(`${path} serves the official client`, async () => {
    const client = new Client({ name: 'client-test', version: '1.0.0' });
    await client.connect(transport());
    try {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
      // The client checks each structured result against the tool's output schema.
      const found = await call(client, 'find_nearest_bitcoin_atm', { location: 'Miami, FL', limit: 3 });
      assert.equal(found.atms.length, 3);
      assert.match(found.notice, /sample/i);
      const { id } = found.atms[0];
      assert.equal((await call(client, 'get_atm_details', { atmId: id })).id, id);
      assert.ok((await call(client, 'check_atm_status', { location: 'Austin, TX' })).counts);
      assert.ok((await call(client, 'list_atms_by_city', { state: 'TX', city: 'Austin' })).total >= 3);
      const refused = await client.callTool({ name: 'get_atm_details', arguments: { atmId: 999999999 } });
      assert.equal(refused.isError, true);
      await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), { code: -32602 });
    } finally {
      await client.close();
    }
  });
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}
