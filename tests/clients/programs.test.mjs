// Clients that are programs: the Inspector's command line, and the bridge for hosts with stdio only.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { TOOLS, checkFound, end, program, run } from './program.mjs';

const running = program();
const MODULES = new URL('node_modules/', import.meta.url).pathname;
const timeout = 60_000;

for (const [path, transport] of [['mcp', 'http'], ['sse', 'sse']]) {
  test(`the Inspector over /${path}`, { timeout }, async () => {
    const program = `${MODULES}@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
    const inspect = async (...asked) => {
      const args = [program, '--cli', running[path], '--transport', transport, ...asked];
      const { stdout } = await run(process.execPath, args, { env: { ...process.env, HOME: running.folder } });
      return JSON.parse(stdout);
    };
    assert.deepEqual((await inspect('--method', 'tools/list')).tools.map((tool) => tool.name), TOOLS);
    const args = ['--tool-name', 'find_nearest_bitcoin_atm', '--tool-arg', 'location=Miami, FL', '--tool-arg', 'limit=3'];
    checkFound(await inspect('--method', 'tools/call', ...args));
  });
}

test('the Inspector shows the cards and their permissions', { timeout }, async () => {
  const program = `${MODULES}@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
  const args = [program, '--cli', running.mcp, '--transport', 'http', '--method', 'tools/list', '--app-info', '--advertise-apps'];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, HOME: running.folder } });
  const app = {
    hasApp: true, resourceUri: 'ui://signpost/atms-v1.html', visibility: ['model', 'app'], csp: { connectDomains: [], resourceDomains: [] },
    permissions: {}, prefersBorder: true, resourceMimeType: 'text/html;profile=mcp-app',
  };
  const permissions = stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(permissions, TOOLS.map((toolName) => ({ toolName, ...(toolName === 'get_atm_details' ? { hasApp: false } : app) })));
});

for (const [path, transport] of [['mcp', 'http-only'], ['sse', 'sse-only']]) {
  test(`mcp-remote over /${path}`, { timeout }, async () => {
    const args = [`${MODULES}mcp-remote/dist/proxy.js`, running[path], '--allow-http', '--transport', transport];
    const env = { ...process.env, HOME: running.folder, MCP_REMOTE_CONFIG_DIR: running.folder };
    const bridge = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const replies = createInterface({ input: bridge.stdout })[Symbol.asyncIterator]();
    const say = (message) => bridge.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const ask = async (id, method, params) => {
      say({ id, method, params });
      const reply = JSON.parse((await replies.next()).value);
      assert.equal(reply.id, id);
      return reply;
    };
    try {
      const clientInfo = { name: 'client-test', version: '1.0.0' };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      assert.equal((await ask(0, 'initialize', params)).result.protocolVersion, '2025-11-25');
      say({ method: 'notifications/initialized' });
      assert.deepEqual((await ask('a', 'tools/list')).result.tools.map((tool) => tool.name), TOOLS);
      const call = (name, args) => ({ name, arguments: args });
      checkFound((await ask(2, 'tools/call', call('find_nearest_bitcoin_atm', { location: 'Miami, FL', limit: 3 }))).result);
      assert.equal((await ask(3, 'tools/call', call('get_atm_details', { atmId: 999999999 }))).result.isError, true);
      assert.equal((await ask(4, 'tools/call', call('no_such_tool', {}))).error.code, -32602);
    } finally {
      await end(bridge);
    }
  });
}
