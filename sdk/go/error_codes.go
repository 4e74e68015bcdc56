package signpost

// ErrorCode is the code of an [Error]. A newer service may send codes without a constant.
type ErrorCode string

// Codes of the service, described in docs/api.md. CodeInvalidSignature without a status is an error of [VerifyWebhook].
const (
	CodeApprovalConsumed            ErrorCode = "approval_consumed"
	CodeATMNotFound                 ErrorCode = "atm_not_found"
	CodeATMNotYours                 ErrorCode = "atm_not_yours"
	CodeChallengeNotFound           ErrorCode = "challenge_not_found"
	CodeClientIsPublic              ErrorCode = "client_is_public"
	CodeClientNotFound              ErrorCode = "client_not_found"
	CodeCredentialExists            ErrorCode = "credential_exists"
	CodeDomainExists                ErrorCode = "domain_exists"
	CodeDomainNotFound              ErrorCode = "domain_not_found"
	CodeDomainNotHosted             ErrorCode = "domain_not_hosted"
	CodeDomainNotRegistered         ErrorCode = "domain_not_registered"
	CodeDomainNotVerified           ErrorCode = "domain_not_verified"
	CodeDomainVerificationFailed    ErrorCode = "domain_verification_failed"
	CodeEmailTaken                  ErrorCode = "email_taken"
	CodeExternalIDExists            ErrorCode = "external_id_exists"
	CodeIdempotencyKeyReused        ErrorCode = "idempotency_key_reused"
	CodeInsecurePublicURL           ErrorCode = "insecure_public_url"
	CodeInsufficientScope           ErrorCode = "insufficient_scope"
	CodeInternalError               ErrorCode = "internal_error"
	CodeInvalidAPIKey               ErrorCode = "invalid_api_key"
	CodeInvalidJSON                 ErrorCode = "invalid_json"
	CodeInvalidProof                ErrorCode = "invalid_proof"
	CodeInvalidPublicKey            ErrorCode = "invalid_public_key"
	CodeInvalidRequest              ErrorCode = "invalid_request"
	CodeInvalidSignature            ErrorCode = "invalid_signature"
	CodeLastCredential              ErrorCode = "last_credential"
	CodeMethodNotAllowed            ErrorCode = "method_not_allowed"
	CodeNoCredential                ErrorCode = "no_credential"
	CodeNoLoginMethod               ErrorCode = "no_login_method"
	CodeNotFound                    ErrorCode = "not_found"
	CodePageFlowRequired            ErrorCode = "page_flow_required"
	CodePayloadTooLarge             ErrorCode = "payload_too_large"
	CodeRateLimited                 ErrorCode = "rate_limited"
	CodeRecentLoginRequired         ErrorCode = "recent_login_required"
	CodeReporterBanned              ErrorCode = "reporter_banned"
	CodeResourceExists              ErrorCode = "resource_exists"
	CodeSessionAlreadyAuthenticated ErrorCode = "session_already_authenticated"
	CodeSessionCancelled            ErrorCode = "session_cancelled"
	CodeSessionExpired              ErrorCode = "session_expired"
	CodeSessionNotFound             ErrorCode = "session_not_found"
	CodeSharedLoginHost             ErrorCode = "shared_login_host"
	CodeTimestampOutOfRange         ErrorCode = "timestamp_out_of_range"
	CodeTooManyClients              ErrorCode = "too_many_clients"
	CodeTooManyCredentials          ErrorCode = "too_many_credentials"
	CodeUnavailable                 ErrorCode = "unavailable"
	CodeUnsupportedMediaType        ErrorCode = "unsupported_media_type"
	CodeUserExists                  ErrorCode = "user_exists"
	CodeUserNotFound                ErrorCode = "user_not_found"
	CodeUsernameTaken               ErrorCode = "username_taken"
)

// Codes of this package, for errors that the service did not send.
const (
	// CodeConnectionFailed: the connection failed before the reply was complete.
	CodeConnectionFailed ErrorCode = "connection_failed"
	// CodeTimeout: the reply was not complete in time.
	CodeTimeout ErrorCode = "timeout"
	// CodeInvalidResponse: a reply that violates the API: no JSON, too long, a redirect.
	CodeInvalidResponse ErrorCode = "invalid_response"
	// CodeToolError: an error of a tool of the locator.
	CodeToolError ErrorCode = "tool_error"
	// CodeMCPError: an error of the protocol of the locator.
	CodeMCPError ErrorCode = "mcp_error"
	// CodeInvalidArgument: wrong use, detected before a request was sent.
	CodeInvalidArgument ErrorCode = "invalid_argument"
	// CodeInvalidSecret: see [VerifyWebhook].
	CodeInvalidSecret ErrorCode = "invalid_secret"
	// CodeInvalidEvent: see [VerifyWebhook].
	CodeInvalidEvent ErrorCode = "invalid_event"
	// CodeParsedBody: the body was read before the handler.
	CodeParsedBody ErrorCode = "parsed_body"
)
