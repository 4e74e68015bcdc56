// Server-sent events of the service.
import { SignpostError } from './error.js';

/** Maximum length of an event, in characters. */
const MAX_EVENT_LENGTH = 64 * 1024;

/** @internal Aborts a stream that sends nothing for some seconds. */
export class IdleTimer {
  readonly #controller = new AbortController();
  readonly #seconds: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(seconds: number) {
    this.#seconds = seconds;
    this.start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#controller.abort(), this.#seconds * 1000);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** @internal Yields the data of the events of a stream, parsed from JSON. */
export async function* readEvents(response: Response, idle: IdleTimer): AsyncGenerator<unknown, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      idle.start();
      const part = await reader?.read();
      idle.stop(); // the caller may take its time
      if (!part || part.done) return;
      text += decoder.decode(part.value, { stream: true });
      const events = text.split(/\r?\n\r?\n/);
      text = events.pop() ?? '';
      if (text.length > MAX_EVENT_LENGTH) throw new SignpostError('invalid_response', 'the stream has an event that is too long');
      for (const event of events) {
        const data = dataOf(event);
        if (data !== undefined) yield data;
      }
    }
  } finally {
    // The caller may have stopped early: the connection is closed.
    await reader?.cancel().catch(() => undefined);
  }
}

/** Returns the data of an event; undefined for a comment, which keeps the connection open. */
function dataOf(event: string): unknown {
  const lines = event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
  if (lines.length === 0) return undefined;
  try {
    return JSON.parse(lines.join('\n'));
  } catch {
    throw new SignpostError('invalid_response', 'the stream has an event that is not JSON');
  }
}
