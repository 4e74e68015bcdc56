// An assistant with AppBridge: it calls a tool of the server and shows the card of the result in a sandbox. It runs in the
// browser; `assistant.mjs` loads and controls it.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const dark = matchMedia('(prefers-color-scheme: dark)');
const client = new Client({ name: 'assistant', version: '1' });
const seen = { initialized: 0, sizes: [], links: [], calls: [] };
let bridge;
let opens = true;

window.assistant = {
  seen,
  client,

  /** Shows the card once its window is ready. `can` are capabilities of the assistant. */
  async show({ can = { openLinks: {}, serverTools: {} }, context = {} } = {}) {
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', location.href)));
    const callTool = client.callTool.bind(client);
    const frame = document.querySelector('iframe');
    bridge = new AppBridge(null, { name: 'assistant', version: '1' }, can, { hostContext: { theme: dark.matches ? 'dark' : 'light', ...context } });
    bridge.oncalltool = (call) => {
      seen.calls.push(call);
      return callTool(call);
    };
    bridge.onopenlink = async ({ url }) => {
      seen.links.push(url);
      return opens ? {} : { isError: true };
    };
    bridge.onsizechange = (size) => {
      seen.sizes.push(size);
      frame.style.height = `${size.height}px`;
    };
    const ready = new Promise((resolve) => {
      bridge.oninitialized = () => {
        seen.initialized += 1;
        resolve();
      };
    });
    dark.onchange = () => bridge.sendHostContextChange({ theme: dark.matches ? 'dark' : 'light' });
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.src = '/card';
    await ready;
  },

  /** Calls a tool, and sends the result to the card. */
  async call(name, args) {
    await bridge.sendToolInput({ arguments: args });
    const result = await client.callTool({ name, arguments: args });
    await bridge.sendToolResult(result);
    return result;
  },

  input: (args) => bridge.sendToolInput({ arguments: args }),
  result: (result) => bridge.sendToolResult(result),
  cancel: () => bridge.sendToolCancelled({ reason: 'user action' }),
  change: (context) => bridge.sendHostContextChange(context),
  refuseLinks: () => { opens = false; },
  teardown: () => bridge.teardownResource({}),
};
