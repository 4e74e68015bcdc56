/** A code of the service: the codes of `docs/api.md`. */
export type ServiceErrorCode =
  | 'approval_consumed'
  | 'atm_not_found'
  | 'atm_not_yours'
  | 'challenge_not_found'
  | 'client_is_public'
  | 'client_not_found'
  | 'credential_exists'
  | 'domain_exists'
  | 'domain_not_found'
  | 'domain_not_hosted'
  | 'domain_not_registered'
  | 'domain_not_verified'
  | 'domain_verification_failed'
  | 'email_taken'
  | 'external_id_exists'
  | 'idempotency_key_reused'
  | 'insecure_public_url'
  | 'insufficient_scope'
  | 'internal_error'
  | 'invalid_api_key'
  | 'invalid_json'
  | 'invalid_proof'
  | 'invalid_public_key'
  | 'invalid_request'
  | 'invalid_signature'
  | 'last_credential'
  | 'method_not_allowed'
  | 'no_credential'
  | 'no_login_method'
  | 'not_found'
  | 'page_flow_required'
  | 'payload_too_large'
  | 'rate_limited'
  | 'recent_login_required'
  | 'reporter_banned'
  | 'resource_exists'
  | 'session_already_authenticated'
  | 'session_cancelled'
  | 'session_expired'
  | 'session_not_found'
  | 'shared_login_host'
  | 'timestamp_out_of_range'
  | 'too_many_clients'
  | 'too_many_credentials'
  | 'unavailable'
  | 'unsupported_media_type'
  | 'user_exists'
  | 'user_not_found'
  | 'username_taken';

/** A code of this package, for errors that the service did not send. */
export type ClientErrorCode =
  | 'connection_failed'
  | 'timeout'
  | 'invalid_response'
  | 'tool_error'
  | 'mcp_error'
  | 'invalid_argument'
  | 'invalid_signature'
  | 'invalid_secret'
  | 'invalid_event'
  | 'parsed_body';

/** The known codes. A newer service may send others, so a `switch` needs a `default`. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode;

/** An error of the service or of this package. Programs check `code`; messages may change. */
export class SignpostError extends Error {
  override readonly name = 'SignpostError';
  /** The code; editors complete the known codes. */
  readonly code: ErrorCode | (string & {});
  /** HTTP status; absent if there was no reply. */
  readonly status: number | undefined;
  /** Machine-readable details; the members depend on `code`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** `req_…`, which identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the service sent them. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode | (string & {}), message: string, more: ErrorFacts = {}) {
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

/** Options for tests of this package, which no error message lists. */
const INTERNAL_OPTIONS = ['clock', 'longestWait'];

/** @internal Throws `invalid_argument` for an unknown option, because a misspelt option would have no effect. */
export function checkOptions(given: object, known: Readonly<Record<string, true>>, owner: string): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known).filter((option) => !INTERNAL_OPTIONS.includes(option));
    throw invalidArgument(`unknown option ${name} of ${owner}; its options are ${names.join(', ')}`);
  }
}
