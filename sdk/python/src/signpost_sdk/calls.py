"""The calls of the API. `Signpost` and `AsyncSignpost` derive their methods from them by `blocking` and `awaiting`."""

import math
import uuid
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, Literal

from .core import Core, as_nothing, as_png, as_reply, as_svg, path, refuse
from .errors import SignpostError
from .replies import (
    CreatedSession,
    Delivery,
    DeliveryList,
    DeliveryState,
    Domain,
    DomainList,
    EventKind,
    Handler,
    ListedDomain,
    ListedSession,
    LoginMethod,
    Mode,
    ProvedDomain,
    RefreshedSession,
    RegisteredDomain,
    Registration,
    Retried,
    Session,
    SessionList,
    Simulation,
    Status,
    Verification,
)
from .steps import Pages, Pause, Steps

PAGE = 100
"""Number of items that are requested at once."""
_LONGEST_WAIT = 25
_SHORTEST_WAIT = 1.0
_ENDS: Final[dict[str, Status]] = {"session_expired": "expired", "session_cancelled": "cancelled"}


class Unset(Enum):
    """The default of an argument that was not given. None means to remove the member."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


class Calls:
    """Calls of a service."""

    def __init__(self, core: Core) -> None:
        self.core = core


class ServiceCalls(Calls):
    """The calls outside of any group."""

    def verify(self, *, message: str, signature: str, public_key: str) -> Steps[Verification]:
        """Checks with the service whether `public_key` (hex) signed `message`; `signature` is DER in hex."""
        body = {"message": message, "signature": signature, "public_key": public_key}
        return self.core.call("POST", "/verify", as_reply(Verification), repeat=True, body=body)


class SessionCalls(Calls):
    """Login attempts."""

    def create(
        self,
        *,
        domain: str,
        mode: Mode | Literal["registration"] | None = None,
        user: str | None = None,
        webhook_url: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        confirm: Literal["code"] | None = None,
        flow: Literal["cross_device", "same_device", "page"] | None = None,
        requester: Mapping[str, str] | None = None,
        browser_hash: str | None = None,
        idempotency_key: str | None = None,
    ) -> Steps[CreatedSession]:
        """Creates a session. Retries share an `Idempotency-Key` (default: random), so they create no second session."""
        body = given(
            domain=domain, mode=mode, user=user, webhook_url=webhook_url, metadata=metadata, confirm=confirm, flow=flow,
            requester=requester, browser_hash=browser_hash,
        )  # fmt: skip
        headers = idempotency(idempotency_key)
        return self.core.call("POST", "/sessions", as_reply(CreatedSession), repeat=True, body=body, headers=headers)

    def list(
        self,
        *,
        status: Status | None = None,
        domain: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Steps[SessionList]:
        """Returns a page of sessions, newest first. `limit` is 1 to 100."""
        query = {"status": status, "domain": domain, "limit": limit, "cursor": cursor}
        return self.core.call("GET", "/sessions", as_reply(SessionList), repeat=True, query=query)

    def all(self, *, status: Status | None = None, domain: str | None = None) -> Pages[ListedSession]:
        """Returns all sessions, newest first, page by page."""

        def fetch(cursor: str | None) -> Steps[tuple[tuple[ListedSession, ...], str | None]]:
            page = yield from self.list(status=status, domain=domain, limit=PAGE, cursor=cursor)
            return page.sessions, page.next_cursor

        return Pages(fetch)

    def get(self, id: str, *, wait: int | None = None) -> Steps[Session]:
        """Returns the session; with `wait` (0 to 25 s), as soon as it is no longer pending."""
        query, longer = {"wait": wait}, wait or 0
        return self.core.call("GET", path("sessions", id), as_reply(Session), repeat=True, query=query, longer=longer)

    def wait(self, id: str, *, timeout: float = 300) -> Steps[Session]:
        """Waits up to `timeout` seconds until the session is no longer pending, and returns its last state.

        A session that expired or was cancelled is returned with that `status`; it is not an error.
        """
        clock = self.core.monotonic
        end = clock() + timeout
        while True:
            begin = clock()
            try:
                session = yield from self.get(id, wait=max(0, min(_LONGEST_WAIT, math.ceil(end - begin))))
            except SignpostError as error:
                status: Status | None = _ENDS.get(error.code)
                if status is not None:
                    return Session(id=id, status=status, raw={"id": id, "status": status})
                raise
            now = clock()
            if session.status != "pending" or now >= end:
                return session
            if now - begin < _SHORTEST_WAIT:
                # A proxy on the way may reply early.
                yield Pause(min(_SHORTEST_WAIT - (now - begin), end - now))

    def follow(self, id: str) -> Pages[Session]:
        """Returns the state of a session, and each later state until it is final. It polls, so each transport supports it."""

        def fetch(cursor: str | None) -> Steps[tuple[tuple[Session, ...], str | None]]:
            session = yield from self.wait(id, timeout=0 if cursor is None else _LONGEST_WAIT)
            if session.status != "pending":
                return (session,), None
            polls = int(cursor or 0) + 1
            return ((session,) if cursor is None else ()), str(polls)

        return Pages(fetch)

    def refresh(self, id: str) -> Steps[RefreshedSession]:
        """Replaces the session's code. The old code no longer works."""
        return self.core.call("POST", path("sessions", id, "refresh"), as_reply(RefreshedSession), repeat=True)

    def complete(self, id: str, *, code: str, browser_secret: str | None = None) -> Steps[Session]:
        """Completes a login with the code from `return_url`. Not retried after a lost connection."""
        body = given(code=code, browser_secret=browser_secret)
        return self.core.call("POST", path("sessions", id, "complete"), as_reply(Session), repeat=False, body=body)

    def authenticate(self, id: str, answer: Mapping[str, Any]) -> Steps[Session]:
        """Forwards a wallet's answer. Not retried after a lost connection."""
        return self.core.call(
            "POST", path("sessions", id, "authenticate"), as_reply(Session), repeat=False, body=answer
        )

    def cancel(self, id: str) -> Steps[None]:
        """Cancels a pending session."""
        return self.core.call("DELETE", path("sessions", id), as_nothing, repeat=False)

    def simulate(
        self,
        id: str,
        *,
        wallet: int | None = None,
        fault: Literal["signature", "timestamp", "challenge", "confirm_code"] | None = None,
    ) -> Steps[Simulation]:
        """Simulates a wallet (sandbox only): its number, 1 to 100, and an optional fault."""
        body = given(wallet=wallet, fault=fault)
        return self.core.call("POST", path("sessions", id, "simulate"), as_reply(Simulation), repeat=False, body=body)

    def qr_svg(self, id: str) -> Steps[str]:
        """Returns the QR code of a pending session as SVG."""
        headers = {"Accept": "image/svg+xml, application/json"}
        return self.core.call("GET", path("sessions", id, "qr.svg"), as_svg, repeat=True, headers=headers)

    def qr_png(self, id: str) -> Steps[bytes]:
        """Returns the QR code of a pending session as PNG."""
        headers = {"Accept": "image/png, application/json"}
        return self.core.call("GET", path("sessions", id, "qr.png"), as_png, repeat=True, headers=headers)


class DomainCalls(Calls):
    """The registered domains."""

    def create(
        self, *, domain: str, webhook_url: str, events: Iterable[EventKind] | None = None
    ) -> Steps[RegisteredDomain]:
        """Registers a domain. It receives the events `login` and `register` unless `events` names others."""
        body: dict[str, Any] = {"domain": domain, "webhook_url": webhook_url}
        if events is not None:
            body["events"] = [*events]
        return self.core.call("POST", "/domains", as_reply(RegisteredDomain), repeat=False, body=body)

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Steps[DomainList]:
        """Returns all domains, oldest first, or a page if `limit` (1 to 100) or `cursor` is given."""
        query = {"limit": limit, "cursor": cursor}
        return self.core.call("GET", "/domains", as_reply(DomainList), repeat=True, query=query)

    def all(self) -> Pages[ListedDomain]:
        """Returns all domains, oldest first, page by page."""

        def fetch(cursor: str | None) -> Steps[tuple[tuple[ListedDomain, ...], str | None]]:
            page = yield from self.list(limit=PAGE, cursor=cursor)
            return page.domains, page.next_cursor

        return Pages(fetch)

    def get(self, id: str) -> Steps[Domain]:
        """Returns the domain."""
        return self.core.call("GET", path("domains", id), as_reply(Domain), repeat=True)

    def update(
        self,
        id: str,
        *,
        webhook_url: str | None = None,
        event_url: str | None | Unset = UNSET,
        handler: Handler | None = None,
        methods: Iterable[LoginMethod] | None = None,
        registration: Registration | None = None,
        display_name: str | None | Unset = UNSET,
        events: Iterable[EventKind] | None | Unset = UNSET,
    ) -> Steps[Domain]:
        """Changes the given members. None removes `event_url` or `display_name`, and restores the default of `events`."""
        body = given(webhook_url=webhook_url, handler=handler, registration=registration)
        if methods is not None:
            body["methods"] = [*methods]
        kinds = events if events is None or isinstance(events, Unset) else [*events]
        body |= changed(event_url=event_url, display_name=display_name, events=kinds)
        return self.core.call("PATCH", path("domains", id), as_reply(Domain), repeat=True, body=body)

    def verify(self, id: str) -> Steps[ProvedDomain]:
        """Checks the proof of ownership, up to 10 s. `details["checks"]` of an error lists the results."""
        return self.core.call("POST", path("domains", id, "verify"), as_reply(ProvedDomain), repeat=True)

    def delete(self, id: str) -> Steps[None]:
        """Deletes the domain."""
        return self.core.call("DELETE", path("domains", id), as_nothing, repeat=False)

    def send_test_event(self, id: str) -> Steps[Delivery]:
        """Sends a `test` event."""
        return self.core.call("POST", path("domains", id, "test-event"), as_reply(Delivery), repeat=False)


class DeliveryCalls(Calls):
    """Event deliveries."""

    def list(
        self, *, state: DeliveryState | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Steps[DeliveryList]:
        """Returns a page of deliveries, newest first. `limit` is 1 to 100."""
        query = {"state": state, "limit": limit, "cursor": cursor}
        return self.core.call("GET", "/deliveries", as_reply(DeliveryList), repeat=True, query=query)

    def all(self, *, state: DeliveryState | None = None) -> Pages[Delivery]:
        """Returns all deliveries, newest first, page by page."""

        def fetch(cursor: str | None) -> Steps[tuple[tuple[Delivery, ...], str | None]]:
            page = yield from self.list(state=state, limit=PAGE, cursor=cursor)
            return page.deliveries, page.next_cursor

        return Pages(fetch)

    def get(self, id: str) -> Steps[Delivery]:
        """Returns the delivery with its `body`."""
        return self.core.call("GET", path("deliveries", id), as_reply(Delivery), repeat=True)

    def retry(self, id: str) -> Steps[Delivery]:
        """Retries the delivery as soon as possible."""
        return self.core.call("POST", path("deliveries", id, "retry"), as_reply(Delivery), repeat=False)

    def retry_all(self) -> Steps[Retried]:
        """Retries all failed deliveries."""
        return self.core.call("POST", "/deliveries/retry", as_reply(Retried), repeat=False)


def idempotency(key: str | None) -> dict[str, str]:
    """Returns the header `Idempotency-Key`; its default is random."""
    key = key or str(uuid.uuid4())
    if not (key.isascii() and key.isprintable()):
        raise refuse("an idempotency_key has 1 to 255 visible ASCII characters")
    return {"Idempotency-Key": key}


def given(**members: Any) -> dict[str, Any]:
    """Returns the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def changed(**members: Any) -> dict[str, Any]:
    """Returns the members that were given; None removes a member."""
    return {name: value for name, value in members.items() if value is not UNSET}
