"""The base of the login and the wallet handlers: framework-independent requests and responses, and the event endpoint."""

import asyncio
import json
import logging
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import parse_qsl

from .client import AsyncSignpost, Signpost
from .cookies import Site, read_cookies
from .core import refuse
from .errors import SignpostError
from .replies import Event, LoginMethod, Mode, Session
from .steps import CallSync, Steps, ask
from .webhooks import Headers, header_fields, secret_keys, verify

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)
U = TypeVar("U")
MAX_BODY = 64 * 1024
"""Maximum size of a body from wallets and the service, in bytes."""
MAX_SEEN = 10_000
_ACT_SECONDS = 5
NO_STORE = ("Cache-Control", "no-store")
HandlerStep = Literal["start", "link", "return", "logout", "events", "wallet"]
"""The handler that an error occurred in. `start` is `/login` and `/register`."""
OnError: TypeAlias = Callable[[Exception, HandlerStep], Any]
"""Receives the errors of the service, as `SignpostError` with `code` and `request_id`, and the errors of `on_event`."""
log = logging.getLogger("signpost_sdk")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request. `path` is the whole path, `query` the text after its `?`."""

    method: str
    path: str
    query: str = ""
    headers: Headers = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)

    def parameter(self, name: str) -> str | None:
        """Returns the query parameter; None if it is missing or repeated."""
        values = self.parameters(name)
        return values[0] if len(values) == 1 else None

    def parameters(self, name: str) -> list[str]:
        """Returns all query parameters with this name."""
        return [value for key, value in parse_qsl(self.query, keep_blank_values=True) if key == name]

    @property
    def fields(self) -> dict[str, str]:
        """The headers by their names in lower case."""
        return header_fields(self.headers)

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies."""
        return read_cookies(self.fields.get("cookie", ""))


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. `Set-Cookie` may occur several times."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class LoggedIn(Generic[U]):
    """A completed login: its user, session and mode, and the path to continue at."""

    user: U
    session: Session
    mode: Mode
    next: str

    @property
    def method(self) -> LoginMethod | None:
        """The kind of proof: `scan`, `browser`, `lightning` or `passkey`; later versions may add others."""
        return self.session.method


SetCookies: TypeAlias = Sequence[str] | None
SignIn: TypeAlias = Callable[[LoggedIn[U], R], SetCookies | Awaitable[SetCookies]]
"""Sets the site's own login: on the request's session, or by the `Set-Cookie` values that it returns."""


class SeenEvents(Protocol):
    """A record of the processed events, kept for 30 days if possible. Its methods may be coroutine functions."""

    def has(self, id: str, /) -> bool | Awaitable[bool]:
        """Returns whether the event was processed."""
        ...

    def add(self, id: str, /) -> None | Awaitable[None]:
        """Records a processed event. It may be recorded already."""
        ...


class MemoryEvents:
    """The last 10,000 events, in the memory of this process."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, id: str, /) -> bool:
        """Returns whether the event was processed."""
        return id in self._seen

    def add(self, id: str, /) -> None:
        """Records a processed event."""
        with self._lock:
            self._seen[id] = None
            if len(self._seen) > MAX_SEEN:
                self._seen.popitem(last=False)


class Mountable(Protocol[R_contra]):
    """The interface of handlers for adapters."""

    @property
    def path(self) -> str: ...

    @property
    def routes(self) -> Sequence[tuple[str, str]]: ...

    @property
    def is_async(self) -> bool: ...

    def handle(self, incoming: Incoming, request: R_contra, /) -> Answer | None: ...

    async def handle_async(
        self, incoming: Incoming, request: R_contra, /, call_sync: CallSync = asyncio.to_thread
    ) -> Answer | None: ...


class Handlers(Generic[R]):
    """Handlers below a path of the site."""

    routes: Sequence[tuple[str, str]] = ()
    """The method and the name of each handler, below `path`."""

    def __init__(
        self,
        client: Signpost | AsyncSignpost,
        *,
        domain: str,
        site: str,
        path: str,
        webhook_secrets: str | Iterable[str],
        on_event: Callable[[Event], Any] | None,
        seen_events: SeenEvents | None,
        on_error: OnError | None,
    ) -> None:
        if path and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
            raise refuse(f"path must begin with a slash and not end with a slash, such as /signpost: {path!r}")
        self.core, self.domain, self.site, self.path = client.core, domain, Site.parse(site), path
        self.is_async = isinstance(client, AsyncSignpost)
        self._secrets = [webhook_secrets] if isinstance(webhook_secrets, str) else [*webhook_secrets]
        for secret in self._secrets:
            secret_keys(secret)
        self._on_event, self._seen = on_event, seen_events or MemoryEvents()
        self._on_error = on_error
        self._acting, self._lock = set[str](), threading.Lock()
        self.now: Callable[[], float] = time.time
        self.random: Callable[[int], bytes] = secrets.token_bytes

    def handle(self, incoming: Incoming, request: R, /) -> Answer | None:
        """Returns the response; None if the path belongs to no handler. `request` is passed to the site's functions."""
        return self.core.run(self.steps(incoming, request))

    async def handle_async(
        self, incoming: Incoming, request: R, /, call_sync: CallSync = asyncio.to_thread
    ) -> Answer | None:
        """Like `handle`, for event loops. The site's functions may be async; `call_sync` calls the others."""
        return await self.core.run_async(self.steps(incoming, request), call_sync)

    def steps(self, incoming: Incoming, request: R) -> Steps[Answer | None]:
        """Finds the handler and runs it."""
        prefix = f"{self.path}/"
        name = incoming.path.removeprefix(prefix) if incoming.path.startswith(prefix) else ""
        methods = [method for method, route in self.routes if route == name]
        if not methods:
            return None
        if incoming.method not in methods:
            return Answer(405, (("Allow", ", ".join(methods)), NO_STORE))
        return (yield from self.answer(name, incoming, request))

    def answer(self, name: str, incoming: Incoming, request: R) -> Steps[Answer | None]:
        """Handles a request for this handler."""
        raise NotImplementedError

    def report(self, error: Exception, step: HandlerStep) -> Steps[None]:
        """Passes an error to the site's function. An error of that function is logged, and does not change the response."""
        if self._on_error is None:
            # The trace of an error of the service has only lines of this package.
            trace = None if isinstance(error, SignpostError) else error
            log.error("signpost: the step %s failed: %s", step, error, exc_info=trace)
            return
        try:
            yield from ask(self._on_error, error, step)
        except Exception:
            log.exception("signpost: on_error failed")

    def accept_event(self, incoming: Incoming) -> Steps[Answer]:
        """Receives an event of the service. Each event is processed once, even if it is delivered again."""
        if not self._secrets:
            return json_answer(404, {"error": "events are not accepted here: webhook_secrets is not set"})
        if len(incoming.body) > MAX_BODY:
            return json_answer(413, {"error": "the body is too long: at most 64 KiB are accepted"})
        try:
            event = verify(incoming.body, incoming.fields, self._secrets, now=self.now())
        except SignpostError as error:
            status = {"invalid_signature": 401, "invalid_event": 400}.get(error.code)
            if status is None:
                raise
            return json_answer(status, {"error": error.message})
        if event.event == "test":
            return json_answer(200, {"status": "received"})
        return (yield from self._act_once(event))

    def _act_once(self, event: Event) -> Steps[Answer]:
        # Recorded after it was processed, so that a crash loses no event. Until then, concurrent deliveries are rejected.
        with self._lock:
            if event.identity in self._acting:
                again = ("Retry-After", str(_ACT_SECONDS))
                return json_answer(503, {"error": "this event is being acted on: try again"}, again)
            self._acting.add(event.identity)
        try:
            if (yield from ask(self._seen.has, event.identity)):
                return json_answer(200, {"status": "received before"})
            if self._on_event is not None:
                yield from ask(self._on_event, event)
            yield from ask(self._seen.add, event.identity)
        except Exception as error:
            yield from self.report(error, "events")
            return json_answer(500, {"error": "something went wrong on this server: try again"})
        finally:
            with self._lock:
                self._acting.discard(event.identity)
        return json_answer(200, {"status": "received"})


def methods_by_name(routes: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Returns the methods of each handler, for adapters."""
    found: dict[str, list[str]] = {}
    for method, name in routes:
        found.setdefault(name, []).append(method)
    return found


def parsed_body(framework: str, remedy: str) -> SignpostError:
    """Returns the error for a body that the framework has already parsed."""
    return SignpostError(
        "parsed_body", f"{framework} has read the body before the handler could check its signature: {remedy}"
    )


def json_answer(status: int, content: dict[str, Any], *headers: tuple[str, str]) -> Answer:
    """Returns a JSON response that is not cached."""
    fixed = (("Content-Type", "application/json"), NO_STORE)
    return Answer(status, (*fixed, *headers), json.dumps(content).encode())
