"""The exception of this package."""

from collections.abc import Mapping
from typing import Any


class SignpostError(Exception):
    """A failed call: rejected by the service, or without a valid reply.

    `code` identifies the error. It is a code of the service (`session_expired`, `rate_limited`, …) or of this package:
    `connection_failed`, `timeout`, `invalid_response`, `tool_error`, `mcp_error`, `invalid_argument`; and for events
    `invalid_signature`, `invalid_event`, `invalid_secret`, `parsed_body`.
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
