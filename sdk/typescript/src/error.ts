/** What the service, or this package, reports as wrong. Programs look at `code`; messages may change. */
export class SignpostError extends Error {
  override readonly name = 'SignpostError';
  /**
   * The service's code, or one of this package: `connection_failed`, `timeout`, `invalid_response`, `tool_error`,
   * `mcp_error`, `invalid_argument`, `invalid_signature`, `invalid_secret`, `invalid_event`, `parsed_body`.
   */
  readonly code: string;
  /** HTTP status; absent if there was no reply. */
  readonly status: number | undefined;
  /** What a program needs to act on the error. */
  readonly details: Readonly<Record<string, unknown>>;
  /** `req_…`, which the service's log has too. */
  readonly requestId: string | undefined;
  /** Seconds after which the service wants to be asked again, if it said so. */
  readonly retryAfter: number | undefined;

  constructor(code: string, message: string, more: ErrorFacts = {}) {
    super(more.requestId ? `${message} (${more.requestId})` : message, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.status = more.status;
    this.details = more.details ?? {};
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
  }
}

/** What is known of an error beside its code and message. */
export interface ErrorFacts {
  status?: number | undefined;
  details?: Record<string, unknown> | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** @internal */
export function invalidArgument(message: string): SignpostError {
  return new SignpostError('invalid_argument', message);
}
