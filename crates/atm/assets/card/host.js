// JSON-RPC with the host of the frame, by messages of the window (MCP Apps, 2026-01-26).
const PATIENCE = 60_000;
const asked = new Map();
let last = 0;

const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

/** Sends a notification to the host. */
export const tell = (event, params) => post({ method: `ui/notifications/${event}`, params });

/** Sends a request to the host and returns its reply, if it comes within a minute. */
export function ask(method, params) {
  const id = ++last;
  post({ id, method, params });
  return new Promise((done, failed) => {
    asked.set(id, { done, failed });
    setTimeout(() => settle(id, 'failed'), PATIENCE);
  });
}

function settle(id, how, value) {
  asked.get(id)?.[how](value);
  asked.delete(id);
}

/** Handles messages of the host and ignores all others; `handlers` by method name. */
export function listen(handlers) {
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== '2.0') return;
    const { id, method, params = {}, result, error } = data;
    if (method === undefined) {
      settle(id, error ? 'failed' : 'done', result);
      return;
    }
    const handle = handlers.get(method);
    handle?.(params);
    if (id !== undefined) post({ id, ...(handle ? { result: {} } : { error: { code: -32601, message: method } }) });
  });
}
