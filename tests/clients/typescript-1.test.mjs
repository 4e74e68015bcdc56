// The official TypeScript client for revisions before 2026-07-28.
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { program, useEverything } from './program.mjs';

const running = program();
const stdio = () => ({ command: process.env.SIGNPOST, args: ['mcp', '--data-dir', `${running.folder}/data`] });

for (const [over, transport] of Object.entries({
  '/mcp': () => new StreamableHTTPClientTransport(new URL(running.mcp)),
  '/sse': () => new SSEClientTransport(new URL(running.sse)),
  stdio: () => new StdioClientTransport(stdio()),
})) {
  test(`@modelcontextprotocol/sdk over ${over}`, async () => {
    const client = new Client({ name: 'client-test', version: '1.0.0' });
    await client.connect(transport());
    try {
      await useEverything(client, over === 'stdio' ? 'local' : 'remote');
    } finally {
      await client.close();
    }
  });
}
