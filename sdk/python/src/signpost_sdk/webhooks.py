"""Verification and parsing of events."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from .decoding import decode
from .errors import SignpostError
from .replies import Event

_TOLERANCE = 300
Headers: TypeAlias = Mapping[str, Any] | Iterable[tuple[str | bytes, str | bytes]]
"""Headers of a framework: a mapping, pairs of text or bytes, or a WSGI environment. Names in any case."""


class Webhooks:
    """Verification of the service's events."""

    def verify(self, body: bytes | str, headers: Headers, secret: str | Iterable[str]) -> Event:
        """See `signpost_sdk.webhooks.verify`."""
        return verify(body, headers, secret)


def verify(body: bytes | str, headers: Headers, secret: str | Iterable[str], *, now: float | None = None) -> Event:
    """Checks the signature of a raw `body`, and returns its event. Pass both secrets during a rotation.

    Raises `SignpostError`: `invalid_signature` with `details["reason"]` `missing`, `mismatch` or `timestamp`;
    `invalid_event`; `invalid_secret`; `parsed_body` if `body` is not the raw body.
    """
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    elif not isinstance(body, bytes | bytearray | memoryview):
        raise SignpostError(
            "parsed_body",
            f"the body is a {type(body).__name__}, but the signature covers the bytes as posted: pass `await request.body()` "
            "(FastAPI), `request.get_data()` (Flask) or `request.body` (Django), before anything parses it",
        )
    content = bytes(body)
    keys = [secret_keys(text) for text in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise SignpostError("invalid_secret", "there is no secret to check the event with")
    _authenticate(content, header_fields(headers), keys, time.time() if now is None else now)
    return _read(content)


def header_fields(headers: Headers) -> dict[str, str]:
    """Returns the headers by their names in lower case. The first value wins if a name is repeated."""
    found: dict[str, str] = {}
    # Flask's headers are no Mapping; they are iterated over as pairs.
    for name, value in headers.items() if isinstance(headers, Mapping) else headers:
        text = name.decode("latin-1") if isinstance(name, bytes) else str(name)
        if text.startswith("HTTP_"):
            text = text[5:].replace("_", "-")
        if isinstance(value, list | tuple) and value:
            value = value[0]
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        if isinstance(value, str):
            found.setdefault(text.lower(), value)
    return found


def secret_keys(secret: str) -> tuple[bytes, bytes]:
    """Returns the two keys of a secret: for `X-Svc-Signature`, and for Standard Webhooks."""
    form = "a secret is whsec_ and base64 behind it, as it was shown when the domain was registered"
    if not isinstance(secret, str) or secret != secret.strip():
        raise SignpostError("invalid_secret", f"the secret begins or ends with a space or a line break; {form}")
    encoded = secret.removeprefix("whsec_")
    try:
        key = base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        key = b""
    exact = base64.b64encode(key).decode() == encoded
    if not secret.startswith("whsec_") or not exact or not 24 <= len(key) <= 64:
        raise SignpostError("invalid_secret", form)
    return secret.encode(), key


def _authenticate(body: bytes, headers: Mapping[str, str], keys: list[tuple[bytes, bytes]], now: float) -> None:
    signature = headers.get("x-svc-signature")
    if signature is None:
        raise _refused("missing", "it has no X-Svc-Signature")
    # A list, not a generator, so that all values are compared even after a match.
    given = [signature, headers.get("x-svc-signature-next", "")]
    if not any([_same(signature, _mac(key, body).hex()) for key, _ in keys for signature in given]):
        raise _refused("mismatch", "its X-Svc-Signature does not match: was the body changed, or is it another secret?")
    text, timestamp = headers.get("webhook-timestamp"), None
    if text is not None:
        if not re.fullmatch("[+-]?[0-9]{1,18}", text):
            raise _refused("timestamp", "its webhook-timestamp is not a number")
        timestamp = int(text)
        if abs(timestamp - int(now)) > _TOLERANCE:
            raise _refused("timestamp", "its webhook-timestamp is more than 5 minutes from this server's time")
    signatures = headers.get("webhook-signature")
    if signatures is None:
        return
    event_id = headers.get("webhook-id")
    if event_id is None or timestamp is None:
        raise _refused("mismatch", "it has a webhook-signature without webhook-id and webhook-timestamp")
    content = f"{event_id}.{timestamp}.".encode() + body
    made = ["v1," + base64.b64encode(_mac(key, content)).decode() for _, key in keys]
    if not any([_same(signature, own) for signature in signatures.split(" ") for own in made]):
        raise _refused("mismatch", "its webhook-signature does not match")


def _read(body: bytes) -> Event:
    try:
        value = json.loads(body)
        if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
            raise ValueError("data is no object")
        if value.get("event") == "registration":
            value["event"] = "register"
        event = decode(Event, value)
        # Checks the members of the kinds about users.
        _ = event.user
        return event
    except (ValueError, RecursionError) as error:
        message = f"the body is signed, but not an event with event, timestamp, session_id and data: {error}"
        raise SignpostError("invalid_event", message) from None


def _mac(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()


def _same(given: str, own: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), own.encode())


def _refused(reason: str, why: str) -> SignpostError:
    return SignpostError("invalid_signature", f"the event is refused: {why}", details={"reason": reason})
