// The official TypeScript SDK serving a tool that returns the text of the command line, stateless and in JSON:
// `node server.mjs '{"atms":[]}'`.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const found = JSON.parse(process.argv[2]);
const inputSchema = { location: z.string(), limit: z.number().int().optional() };

createServer(async (request, response) => {
  // Without sessions there is a server for each request, as the SDK's own example has it.
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool('find', { inputSchema }, () => ({
    content: [{ type: 'text', text: JSON.stringify(found) }],
    structuredContent: found,
  }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on('close', () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(0, '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port}/mcp`);
});
