import { SignpostError } from './error.js';
import { readRaw, reply } from './site.js';
import type { SignpostEvent } from './wire.js';
import { authenticate, identityOf, readEvent, readSecrets } from './webhooks.js';

const MAX_SEEN = 10_000;

/**
 * Which events were acted on. A shared one, such as a table, serves several processes. Two of them may still act on one event at
 * the same moment: where that matters, act and remember the event in one transaction, in `onEvent`.
 */
export interface SeenEvents {
  /** Whether an event with this ID was acted on. */
  has(id: string): boolean | Promise<boolean>;
  /** Remembers its ID, after `onEvent`. */
  add(id: string): unknown;
}

/** What both kinds of handlers are told about events. */
export interface EventOptions {
  /** The domain's `whsec_…`, or several during a rotation. Without it the endpoint for events is 404. */
  webhookSecrets?: string | readonly string[] | undefined;
  /**
   * Acts on an event. Ignore kinds that you do not know. If it throws, or this process ends before it is done, the service sends the
   * event again; meanwhile it is told to come back later.
   */
  onEvent?: ((event: SignpostEvent) => unknown) | undefined;
  /** Default: the last 10,000, in memory. */
  seenEvents?: SeenEvents | undefined;
  /** Gets what a handler answers with status 500. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
}

/** @internal The endpoint that the service posts events to. */
export class EventEndpoint {
  readonly #secrets: string[] | undefined;
  readonly #options: EventOptions;
  readonly #seen: SeenEvents;
  /** The IDs of events that `onEvent` is at. */
  readonly #acting = new Set<string>();
  readonly #now: () => number;

  constructor(options: EventOptions, now: () => number) {
    this.#secrets = options.webhookSecrets === undefined ? undefined : readSecrets(options.webhookSecrets);
    this.#options = options;
    this.#seen = options.seenEvents ?? new SeenInMemory();
    this.#now = now;
  }

  /** Answers the service. A body that was parsed before is thrown as `parsed_body`. */
  async receive(request: Request, raw?: Uint8Array<ArrayBuffer>): Promise<Response> {
    if (!this.#secrets) return reply(404, { error: 'no webhook secret is set here' });
    const body = raw ?? (await readRaw(request));
    if (!body) return reply(413, { error: 'the body is too long: at most 64 KiB are accepted' });
    try {
      await authenticate(body, request.headers, this.#secrets, this.#now());
      return await this.#act(readEvent(body));
    } catch (error) {
      const code = error instanceof SignpostError ? error.code : '';
      if (code === 'invalid_signature') return reply(401, { error: (error as Error).message });
      if (code === 'invalid_event') return reply(400, { error: (error as Error).message });
      throw error;
    }
  }

  async #act(event: SignpostEvent): Promise<Response> {
    if (event.event === 'test') return reply(200, { status: 'received' });
    const id = identityOf(event);
    // Whether it will have been received is not known yet: the service must ask again.
    if (this.#acting.has(id)) return reply(503, { error: 'this event is being acted on: send it again' }, { 'retry-after': '5' });
    this.#acting.add(id);
    try {
      if (await this.#seen.has(id)) return reply(200, { status: 'received before' });
      await this.#options.onEvent?.(event);
      await this.#seen.add(id);
    } catch (error) {
      return this.fail(error);
    } finally {
      this.#acting.delete(id);
    }
    return reply(200, { status: 'received' });
  }

  /** Reports a fault of the site's own. */
  fail(error: unknown): Response {
    (this.#options.onError ?? console.error)(error);
    return reply(500, { error: 'something went wrong on this server: try again' });
  }
}

class SeenInMemory implements SeenEvents {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size > MAX_SEEN) this.#ids.delete(this.#ids.values().next().value ?? '');
  }
}
