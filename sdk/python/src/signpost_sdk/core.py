"""Requests to the service: their URLs, their retries, and the parsing of replies."""

import asyncio
import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .decoding import Mcp, decode
from .errors import SignpostError
from .steps import (
    MAX_REPLY,
    AsyncTransport,
    CallSync,
    HttpReply,
    HttpRequest,
    Pause,
    Steps,
    Transport,
    in_threads,
    run,
    run_async,
)

T = TypeVar("T")
VERSION = "0.1.0"
_MAX_WAIT = 30
_MAX_HURRY = 3
_MAX_THREADS = 32
_MAX_WAITING = 128


def refuse(message: str) -> SignpostError:
    """Returns an error for wrong use that was detected before a request was sent."""
    return SignpostError("invalid_argument", message)


@dataclass(slots=True)
class Core:
    """The service, the API key and the transport. Part of both clients."""

    api_key: str = field(repr=False)
    base_url: str
    timeout: float
    retries: int
    send_sync: Transport | None
    send_async: AsyncTransport | None = None
    mcp_address: str | None = None
    mcp_token: str | None = field(default=None, repr=False)
    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    random: Callable[[], float] = random.random
    sleep: Callable[[float], None] = time.sleep
    sleep_async: Callable[[float], Awaitable[None]] = asyncio.sleep
    longest_pause: float = _MAX_WAIT
    """Maximum `Retry-After` that is waited for, in seconds. A longer value ends the retries."""
    threads: ThreadPoolExecutor | None = field(default=None, repr=False)
    waiting_threads: ThreadPoolExecutor | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.api_key, str):
            raise refuse("the API key is missing: is the variable set that it is read from?")
        if not _is_base_url(self.base_url):
            example = "http(s)://host/… without user name, query or fragment"
            # The URL is not printed: it might contain a password.
            raise refuse(f"base_url must be {example}, such as http://localhost:8080/v1")
        if self.retries < 0 or self.timeout <= 0:
            raise refuse("retries must be 0 or more, and timeout more than 0 seconds")
        self.base_url = self.base_url.rstrip("/")
        if self.mcp_address is not None and not _is_base_url(self.mcp_address):
            raise refuse("mcp_url must be http(s)://host/mcp without user name, query or fragment")
        if self.mcp_token is not None and not (self.mcp_token and _is_header_value(self.mcp_token)):
            raise refuse(
                "mcp_token is empty or has characters that no header may have: has it a line break at its end?"
            )

    @property
    def mcp_url(self) -> str:
        """The locator's URL. Default: `/mcp` at the origin of the base URL."""
        if self.mcp_address is not None:
            return self.mcp_address
        url = urlsplit(self.base_url)
        return f"{url.scheme}://{url.netloc}/mcp"

    def run(self, steps: Steps[T]) -> T:
        """Runs the steps and blocks until they are done."""
        return run(steps, self.send_sync, self.sleep)

    async def run_async(self, steps: Steps[T], call_sync: CallSync = asyncio.to_thread) -> T:
        """Runs the steps on the event loop, with blocking transports in threads of this client."""
        send = self.send_async
        if send is None:
            assert self.send_sync is not None, "a client has a single transport"
            self.send_async = send = in_threads(self.send_sync, self._executor)
        return await run_async(steps, send, self.sleep_async, call_sync)

    def without_retries(self) -> "Core":
        """Returns a core without retries, which reports rate limits at once."""
        return replace(self, retries=0)

    def in_a_hurry(self) -> "Core":
        """Returns a core with short pauses, for requests of a waiting user."""
        return replace(self, longest_pause=_MAX_HURRY)

    def call(
        self,
        method: str,
        path: str,
        read: Callable[[HttpReply], T],
        *,
        repeat: bool,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        longer: float = 0,
        has_key: bool = True,
    ) -> Steps[T]:
        """Sends a request. `repeat`: also retried after a lost connection. `longer`: seconds that the service itself waits.

        `has_key`: whether the API key is sent.
        """
        if not _is_header_value(self.api_key):
            raise refuse("the API key has characters that no header may have: has it a line break at its end?")
        url = self.base_url + path
        if given := {name: value for name, value in (query or {}).items() if value is not None}:
            url += _query(given)
        sent = {"Accept": "application/json", **(headers or {})}
        if has_key:
            sent["Authorization"] = f"Bearer {self.api_key}"
        reply = yield from self._send(method, url, sent, body, repeat, longer)
        if not 200 <= reply.status < 300:
            raise _service_error(reply, self.now())
        return read(reply)

    def call_tool(self, tool: str, arguments: Mapping[str, Any], reply_type: type[Mcp]) -> Steps[Mcp]:
        """Calls a locator tool with the locator's token, if there is one, and never with the API key."""
        given = {name: value for name, value in arguments.items() if value is not None}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}}
        headers = {"Accept": "application/json, text/event-stream"}
        if self.mcp_token is not None:
            headers["Authorization"] = f"Bearer {self.mcp_token}"
        reply = yield from self._send("POST", self.mcp_url, headers, body, True, 0)
        message = _object(reply)
        context = _context(reply, self.now())
        if isinstance(error := message.get("error"), dict):
            data = error.get("data")
            details = {**(data if isinstance(data, dict) else {}), "code": error.get("code")}
            raise SignpostError("mcp_error", str(error.get("message")), details=details, **context)
        result = message.get("result")
        if not isinstance(result, dict) or reply.status != 200:
            raise _invalid(reply, "a result")
        if result.get("isError") is True:
            items = result.get("content")
            texts = (
                [str(item.get("text")) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
            )
            raise SignpostError("tool_error", " ".join(texts) or "the tool failed", **context)
        return _decoded(reply, reply_type, result.get("structuredContent"))

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: Any, repeat: bool, longer: float
    ) -> Steps[HttpReply]:
        sent = {**headers, "User-Agent": f"signpost-sdk-python/{VERSION}"}
        try:
            content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise refuse(f"an argument cannot be sent as JSON: {error}") from None
        if content is not None:
            sent["Content-Type"] = "application/json"
        request = HttpRequest(method, url, self.timeout + longer, sent, content, repeat, longer > 0)
        attempt = 0
        while True:
            wait: float | None
            try:
                reply: HttpReply = yield request
            except OSError as error:
                if not repeat or attempt >= self.retries:
                    code = "timeout" if isinstance(error, TimeoutError) else "connection_failed"
                    raise SignpostError(code, f"{method} {url}: {error or type(error).__name__}") from error
                wait = 0
            else:
                wait = retry_after(reply, self.now()) or 0
                if reply.status not in (429, 503) or attempt >= self.retries or wait > self.longest_pause:
                    return reply
            yield Pause(wait + self.random() * 0.5 * 2**attempt)
            attempt += 1

    def _executor(self, request: HttpRequest) -> ThreadPoolExecutor:
        # Long polls have their own threads, so that they do not delay other calls.
        if request.waits:
            if self.waiting_threads is None:
                self.waiting_threads = ThreadPoolExecutor(_MAX_WAITING, "signpost-waits")
            return self.waiting_threads
        if self.threads is None:
            self.threads = ThreadPoolExecutor(_MAX_THREADS, "signpost")
        return self.threads


def _is_header_value(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _is_base_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        is_whole = url.port is None or url.port > 0
        (url.hostname or "").encode("idna")
    except ValueError:
        return False
    is_plain = text.isascii() and text.isprintable() and not set(text) & set(" ?#@")
    return is_plain and is_whole and url.scheme in ("http", "https") and bool(url.hostname)


def path(*parts: str) -> str:
    """Returns a path of these segments, encoded so that none changes the path's structure."""
    if any(not isinstance(part, str) or part in ("", ".", "..") for part in parts):
        raise refuse(f"an ID must be a non-empty string: {parts}")
    try:
        return "".join(f"/{quote(part, safe='')}" for part in parts)
    except UnicodeEncodeError:
        raise _half_a_character() from None


def _query(given: Mapping[str, Any]) -> str:
    try:
        return "?" + urlencode(given, quote_via=quote)
    except UnicodeEncodeError:
        raise _half_a_character() from None


def _half_a_character() -> SignpostError:
    return refuse("an argument has half a surrogate pair, which is no text")


def as_reply(reply_type: type[T]) -> Callable[[HttpReply], T]:
    """Returns a reader for replies of this type."""
    return lambda reply: _decoded(reply, reply_type, _object(reply))


def as_nothing(reply: HttpReply) -> None:
    """Checks a reply without a body."""
    if reply.status != 204:
        raise _invalid(reply, "204 and nothing else")


def as_svg(reply: HttpReply) -> str:
    """Returns the SVG image of a reply."""
    return _image(reply, "image/svg+xml").decode("utf-8", "replace")


def as_png(reply: HttpReply) -> bytes:
    """Returns the PNG image of a reply."""
    return _image(reply, "image/png")


def _image(reply: HttpReply, kind: str) -> bytes:
    _check_length(reply)
    if reply.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
        raise _invalid(reply, f"an image of the type {kind}")
    return reply.body


def retry_after(reply: HttpReply, now: float) -> float | None:
    """Returns `Retry-After` in seconds, from either form (RFC 9110, section 10.2.3); None if it is malformed."""
    text = reply.headers.get("retry-after", "").strip()
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _service_error(reply: HttpReply, now: float) -> SignpostError:
    if 300 <= reply.status < 400:
        raise _invalid(reply, "no redirect, which is not followed because the key would go along: is base_url right?")
    error = _object(reply).get("error")
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        raise _invalid(reply, "an error of the service")
    details = error.get("details")
    message = str(error.get("message") or error["code"])
    return SignpostError(
        error["code"], message, details=details if isinstance(details, dict) else {}, **_context(reply, now)
    )


def _context(reply: HttpReply, now: float) -> dict[str, Any]:
    request_id = reply.headers.get("x-request-id")
    return {"status": reply.status, "request_id": request_id, "retry_after": retry_after(reply, now)}


def _check_length(reply: HttpReply) -> None:
    if len(reply.body) > MAX_REPLY:
        raise _invalid(reply, f"at most {MAX_REPLY} bytes")


def _object(reply: HttpReply) -> dict[str, Any]:
    _check_length(reply)
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        raise _invalid(reply, "JSON") from None
    if not isinstance(value, dict):
        raise _invalid(reply, "a JSON object")
    return value


def _decoded(reply: HttpReply, reply_type: type[T], value: Any) -> T:
    try:
        return decode(reply_type, value)
    except ValueError as error:
        raise _invalid(reply, f"a {reply_type.__name__} ({error})") from None


def _invalid(reply: HttpReply, expected: str) -> SignpostError:
    message = f"the reply (status {reply.status}) does not match the API: {expected}"
    return SignpostError("invalid_response", message, **_context(reply, time.time()))
