/** An error of the service or of this package. Programs check `code`; messages may change. */
export class SignpostError extends Error {
  override readonly name = 'SignpostError';
  /**
   * A code of the service, or of this package: `connection_failed`, `timeout`, `invalid_response`, `tool_error`,
   * `mcp_error`, `invalid_argument`, `invalid_signature`, `invalid_secret`, `invalid_event`, `parsed_body`.
   */
  readonly code: string;
  /** HTTP status; absent if there was no reply. */
  readonly status: number | undefined;
  /** Machine-readable details; the members depend on `code`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** `req_…`, which identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the service sent them. */
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

/** The optional members of an error. */
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
