// The card of the locator's tools in a test assistant: `Assistant.open`. The card has the content security policy and the
// sandbox of real assistants.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const URI = 'ui://signpost/atms-v1.html';
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";
/** The frame has a name, and the height that the card requests. */
const PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Assistant</title><link rel="icon" href="data:,">'
  + '<style>body{margin:0;background:#888}iframe{display:block;border:0;width:100%}</style><main>'
  + '<iframe sandbox="allow-scripts" title="Bitcoin ATMs"></iframe></main><script src="/assistant.js"></script>';

let script;
/** Returns the assistant's bundled script; it is built once. */
async function bundled() {
  const entryPoints = [fileURLToPath(new URL('assistant.page.mjs', import.meta.url))];
  script ??= build({ entryPoints, bundle: true, write: false, target: 'es2022' }).then(({ outputFiles }) => outputFiles[0].text);
  return script;
}

/** Returns the card that this server serves. */
export async function servedCard(server) {
  const message = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: URI } };
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`http://127.0.0.1:${server.port}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
  return (await reply.json()).result.contents[0];
}

export class Assistant {
  /** Opens an assistant in a tab. `options` are those of `assistant.show`, and `card` is another card. */
  static async open(server, visitor, { card, ...options } = {}) {
    const body = card ?? (await servedCard(server)).text;
    const page = await visitor.context.newPage();
    const pages = {
      '/assistant': { contentType: 'text/html', body: PAGE },
      '/assistant.js': { contentType: 'text/javascript', body: await bundled() },
      '/card': { contentType: 'text/html', body, headers: { 'content-security-policy': POLICY } },
    };
    for (const [path, reply] of Object.entries(pages)) await page.route(`${server.origin}${path}`, (route) => route.fulfill(reply));
    await page.goto(`${server.origin}/assistant`);
    await page.evaluate((given) => window.assistant.show(given), options);
    return Object.assign(new Assistant(), { page, card: page.frames().find((frame) => frame.url().endsWith('/card')) });
  }

  /** Calls a method of `assistant`. */
  do(method, ...given) {
    return this.page.evaluate(([name, values]) => window.assistant[name](...values), [method, given]);
  }

  /** Returns the card's requests and notifications. */
  seen() {
    return this.page.evaluate(() => window.assistant.seen);
  }
}
