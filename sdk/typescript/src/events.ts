import { SignpostError } from './error.js';
import { readRaw, reply } from './site.js';
import type { SignpostEvent } from './wire.js';
import { authenticate, identityOf, readEvent, readSecrets } from './webhooks.js';

const MAX_SEEN = 10_000;

/**
 * A record of the processed events. A shared store, such as a table, serves several processes. Two of them may still process
 * an event concurrently: if that matters, process and record the event in one transaction, in `onEvent`.
 */
export interface SeenEvents {
  /** Returns whether an event with this ID was processed. */
  has(id: string): boolean | Promise<boolean>;
  /** Records the ID, after `onEvent`. */
  add(id: string): unknown;
}

/** The handler that an error occurred in: of `/login` and `/register`, `/link`, `/return`, `/logout`, `/events`, or of wallets. */
export type HandlerStep = 'start' | 'link' | 'return' | 'logout' | 'events' | 'wallet';

/** The options of both kinds of handlers for events. */
export interface EventOptions {
  /** The domain's `whsec_…`, or several during a rotation. Without it, the event endpoint responds with 404. */
  webhookSecrets?: string | readonly string[] | undefined;
  /**
   * Processes an event. Unknown kinds must be ignored. If the function throws, or the process ends before it returns, the
   * service sends the event again. Deliveries during the call are deferred.
   */
  onEvent?: ((event: SignpostEvent) => unknown) | undefined;
  /** Default: the last 10,000 events, in memory. */
  seenEvents?: SeenEvents | undefined;
  /**
   * Receives the errors of the service and the errors of `onEvent`, with the step. An error of the service is a
   * `SignpostError` with its `code` and `requestId`. Default: `console.error`.
   */
  onError?: ((error: unknown, step: HandlerStep) => unknown) | undefined;
}

/** @internal The endpoint for the service's events. */
export class EventEndpoint {
  readonly #secrets: string[] | undefined;
  readonly #options: EventOptions;
  readonly #seen: SeenEvents;
  /** The IDs of the events that `onEvent` is processing. */
  readonly #acting = new Set<string>();
  readonly #now: () => number;

  constructor(options: EventOptions, now: () => number) {
    this.#secrets = options.webhookSecrets === undefined ? undefined : readSecrets(options.webhookSecrets);
    this.#options = options;
    this.#seen = options.seenEvents ?? new SeenInMemory();
    this.#now = now;
  }

  /** Receives an event. Throws `parsed_body` if the body was parsed before. */
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
    // The outcome is not known yet: the service must retry.
    if (this.#acting.has(id)) return reply(503, { error: 'this event is being acted on: send it again' }, { 'retry-after': '5' });
    this.#acting.add(id);
    try {
      if (await this.#seen.has(id)) return reply(200, { status: 'received before' });
      await this.#options.onEvent?.(event);
      await this.#seen.add(id);
    } catch (error) {
      return this.fail(error, 'events');
    } finally {
      this.#acting.delete(id);
    }
    return reply(200, { status: 'received' });
  }

  /** Reports an internal error of the site. */
  async fail(error: unknown, step: HandlerStep): Promise<Response> {
    await this.report(error, step);
    return reply(500, { error: 'something went wrong on this server: try again' });
  }

  /** Passes an error to `onError`. An error of `onError` itself is logged, so that the response does not depend on it. */
  async report(error: unknown, step: HandlerStep): Promise<void> {
    const { onError } = this.#options;
    if (!onError) return console.error(`signpost: the step ${step} failed:`, error);
    try {
      await onError.call(this.#options, error, step);
    } catch (fault) {
      console.error('signpost: onError failed:', fault);
    }
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
