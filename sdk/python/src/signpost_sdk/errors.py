"""The exceptions of this package: `SignpostError`, and a subclass for each known code."""

from collections.abc import Mapping
from typing import Any


class SignpostError(Exception):
    """A failed call: rejected by the service, or without a valid reply.

    `code` identifies the error: a code of the service (`session_expired`, `rate_limited`, …) or of this package
    (`connection_failed`, `invalid_argument`, …). As with `OSError`, the constructor returns the subclass of a known code, so
    `except SessionExpiredError` works. A newer service may send codes that have no subclass here.
    """

    code: str
    message: str
    status: int | None
    """The HTTP status; None if no reply came."""
    details: dict[str, Any]
    request_id: str | None
    """`X-Request-Id` of the reply, for questions to the service's operator."""
    retry_after: float | None
    """The seconds to wait before a retry, if the service sent them."""

    def __init_subclass__(cls, *, code: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if code is not None:
            _SUBCLASSES[code] = cls

    def __new__(cls, code: str, *arguments: Any, **options: Any) -> "SignpostError":
        return super().__new__(_SUBCLASSES.get(code, cls) if cls is SignpostError else cls, code)

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{message} ({request_id})" if request_id else message)
        self.code, self.message, self.status = code, message, status
        self.details, self.request_id, self.retry_after = dict(details or {}), request_id, retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.code, self.message), self.__dict__ | {"args": self.args})


_SUBCLASSES: dict[str, type[SignpostError]] = {}


class ApprovalConsumedError(SignpostError, code="approval_consumed"):
    """The approval was used before."""


class AtmNotFoundError(SignpostError, code="atm_not_found"):
    """No ATM has this ID."""


class AtmNotYoursError(SignpostError, code="atm_not_yours"):
    """The ATM belongs to another operator."""


class ChallengeNotFoundError(SignpostError, code="challenge_not_found"):
    """No session waits for an answer to this challenge."""


class ClientIsPublicError(SignpostError, code="client_is_public"):
    """A public client has no secret."""


class ClientNotFoundError(SignpostError, code="client_not_found"):
    """No client has this ID."""


class CredentialExistsError(SignpostError, code="credential_exists"):
    """A user of the domain has this key, or the user has a credential already."""


class DomainExistsError(SignpostError, code="domain_exists"):
    """The domain is registered already."""


class DomainNotFoundError(SignpostError, code="domain_not_found"):
    """No domain has this ID."""


class DomainNotHostedError(SignpostError, code="domain_not_hosted"):
    """The domain has the handler `direct`."""


class DomainNotRegisteredError(SignpostError, code="domain_not_registered"):
    """The domain is not registered with this account."""


class DomainNotVerifiedError(SignpostError, code="domain_not_verified"):
    """There is no proof of ownership of the domain."""


class DomainVerificationFailedError(SignpostError, code="domain_verification_failed"):
    """The proof of ownership was not found. `details["checks"]` lists the results."""


class EmailTakenError(SignpostError, code="email_taken"):
    """Another user of the domain has this email address."""


class ExternalIdExistsError(SignpostError, code="external_id_exists"):
    """Another user of the domain has this external ID. `details["id"]` is the user."""


class IdempotencyKeyReusedError(SignpostError, code="idempotency_key_reused"):
    """The `Idempotency-Key` was used for another request."""


class InsecurePublicUrlError(SignpostError, code="insecure_public_url"):
    """The service has no https address, which live sessions require."""


class InsufficientScopeError(SignpostError, code="insufficient_scope"):
    """The API key has no scope for this call."""


class InternalError(SignpostError, code="internal_error"):
    """The service failed."""


class InvalidApiKeyError(SignpostError, code="invalid_api_key"):
    """The API key is missing, wrong, revoked, or of another environment."""


class InvalidJsonError(SignpostError, code="invalid_json"):
    """The body is not JSON."""


class InvalidProofError(SignpostError, code="invalid_proof"):
    """The proof of work is wrong or too old."""


class InvalidPublicKeyError(SignpostError, code="invalid_public_key"):
    """The public key is malformed."""


class InvalidRequestError(SignpostError, code="invalid_request"):
    """A member or parameter is invalid. `details["field"]` is its name."""


class InvalidSignatureError(SignpostError, code="invalid_signature"):
    """The signature does not match: of a wallet's answer, or of an event."""


class LastCredentialError(SignpostError, code="last_credential"):
    """The last credential of a user cannot be deleted."""


class MethodNotAllowedError(SignpostError, code="method_not_allowed"):
    """The path has no such method."""


class NoCredentialError(SignpostError, code="no_credential"):
    """The user has no credential."""


class NoLoginMethodError(SignpostError, code="no_login_method"):
    """The domain has no login method for this flow."""


class NotFoundError(SignpostError, code="not_found"):
    """The service has no such path."""


class PageFlowRequiredError(SignpostError, code="page_flow_required"):
    """A login with `user` requires the flow `page`."""


class PayloadTooLargeError(SignpostError, code="payload_too_large"):
    """The body is too long."""


class RateLimitedError(SignpostError, code="rate_limited"):
    """There were too many requests. `retry_after` is in seconds."""


class RecentLoginRequiredError(SignpostError, code="recent_login_required"):
    """The user's last login is too old for this call."""


class ReporterBannedError(SignpostError, code="reporter_banned"):
    """This reporter cannot report ATMs."""


class ResourceExistsError(SignpostError, code="resource_exists"):
    """A resource with this identifier exists."""


class SessionAlreadyAuthenticatedError(SignpostError, code="session_already_authenticated"):
    """The session was authenticated or completed before."""


class SessionCancelledError(SignpostError, code="session_cancelled"):
    """The session was cancelled."""


class SessionExpiredError(SignpostError, code="session_expired"):
    """The session expired."""


class SessionNotFoundError(SignpostError, code="session_not_found"):
    """No session has this ID."""


class SharedLoginHostError(SignpostError, code="shared_login_host"):
    """The login host is shared with other sites."""


class TimestampOutOfRangeError(SignpostError, code="timestamp_out_of_range"):
    """The clock of the wallet is wrong."""


class TooManyClientsError(SignpostError, code="too_many_clients"):
    """The domain has the maximum number of clients."""


class TooManyCredentialsError(SignpostError, code="too_many_credentials"):
    """The user has the maximum number of credentials."""


class UnavailableError(SignpostError, code="unavailable"):
    """The service is not available at the moment."""


class UnsupportedMediaTypeError(SignpostError, code="unsupported_media_type"):
    """The body has another type than JSON."""


class UserExistsError(SignpostError, code="user_exists"):
    """A user of the domain has this key."""


class UserNotFoundError(SignpostError, code="user_not_found"):
    """No user has this ID."""


class UsernameTakenError(SignpostError, code="username_taken"):
    """Another user of the domain has, or had, this username."""


class ConnectionFailedError(SignpostError, code="connection_failed"):
    """The service could not be reached, or the connection was lost."""


class RequestTimeoutError(SignpostError, code="timeout"):
    """The service sent no reply in time."""


class InvalidResponseError(SignpostError, code="invalid_response"):
    """The reply does not match the API."""


class ToolError(SignpostError, code="tool_error"):
    """A tool of the ATM locator failed. The message is for users."""


class McpError(SignpostError, code="mcp_error"):
    """The ATM locator rejected the request."""


class InvalidArgumentError(SignpostError, code="invalid_argument"):
    """An argument is wrong. No request was sent."""


class InvalidSecretError(SignpostError, code="invalid_secret"):
    """A webhook secret is malformed."""


class InvalidEventError(SignpostError, code="invalid_event"):
    """The body is signed, but is not an event."""


class ParsedBodyError(SignpostError, code="parsed_body"):
    """The framework parsed the body before its signature was checked."""
