"""Handlers for sites that receive wallets' answers themselves, and store their users.

    wallets = WalletLogin(client, domain=…, site=…, find_user=…, create_user=…, sign_in=…)

The site's page shows the code of `show_code`, with its cookie, and polls. The order of the checks is defined in the API's
documentation (docs/handlers.md). The service checks the signatures, so this module contains no cryptography.
"""

import asyncio
import hashlib
import hmac
import json
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from .calls import ServiceCalls, SessionCalls
from .client import AsyncSignpost, Signpost
from .cookies import STATE_SECONDS, cookie_of, cookie_values, encode, is_local_path
from .errors import SignpostError
from .handlers import MAX_BODY, Answer, Handlers, Incoming, LoggedIn, OnError, R, SeenEvents, SignIn, U, json_answer
from .replies import Device, Event, Session, SessionUser
from .steps import Steps, ask

__all__ = ["Answer", "Code", "Codes", "Incoming", "LoggedIn", "MemoryCodes", "ShownCode", "WalletLogin"]

T = TypeVar("T")
WalletMode = Literal["login", "register"]
_MAX_CODES = 10_000
_TOLERANCE = 30
_NONCE = "(-?[0-9]+:[A-Za-z0-9_-]{22})"


@dataclass(frozen=True, slots=True)
class ShownCode:
    """A code for the site's page. `cookie` is a `Set-Cookie` value for the page's response."""

    sid: str
    qr_data: str
    expires_at: str
    cookie: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Code:
    """A stored code. `binding` is the SHA-256 of the cookie's value, in hex."""

    sid: str
    challenge: str
    mode: WalletMode
    expires_at: float
    binding: str
    next: str
    public_key: str | None = None
    """The user whose answer was accepted."""


class Codes(Protocol):
    """Stores shown codes for half an hour. Its methods may be coroutine functions."""

    def put(self, code: Code, /) -> None | Awaitable[None]:
        """Stores the code, and replaces any code with its `sid`."""
        ...

    def get(self, sid: str, /) -> Code | None | Awaitable[Code | None]:
        """Returns the code of this session."""
        ...

    def find(self, challenge: str, /) -> Code | None | Awaitable[Code | None]:
        """Returns the code with this challenge."""
        ...

    def complete(self, sid: str, /) -> bool | Awaitable[bool]:
        """Returns True for the first call only, even if calls race."""
        ...

    def reopen(self, sid: str, /) -> None | Awaitable[None]:
        """Resets `complete` after a failed login: its next call returns True."""
        ...


class MemoryCodes:
    """The last 10,000 codes, in the memory of this process."""

    def __init__(self) -> None:
        self._codes: OrderedDict[str, Code] = OrderedDict()
        self._sids: dict[str, str] = {}
        self._completed: set[str] = set()
        self._lock = threading.Lock()

    def put(self, code: Code, /) -> None:
        """Stores the code, and replaces any code with its `sid`."""
        with self._lock:
            if old := self._codes.get(code.sid):
                self._sids.pop(old.challenge, None)
            self._codes[code.sid] = code
            self._sids[code.challenge] = code.sid
            if len(self._codes) > _MAX_CODES:
                sid, oldest = self._codes.popitem(last=False)
                self._sids.pop(oldest.challenge, None)
                self._completed.discard(sid)

    def get(self, sid: str, /) -> Code | None:
        """Returns the code of this session."""
        return self._codes.get(sid)

    def find(self, challenge: str, /) -> Code | None:
        """Returns the code with this challenge."""
        return self._codes.get(self._sids.get(challenge, ""))

    def complete(self, sid: str, /) -> bool:
        """Returns True for the first call only."""
        with self._lock:
            is_first = sid in self._codes and sid not in self._completed
            self._completed.add(sid)
            return is_first

    def reopen(self, sid: str, /) -> None:
        """Resets `complete`: its next call returns True."""
        with self._lock:
            self._completed.discard(sid)


class _Refusal(Exception):
    def __init__(self, status: int, message: str, *headers: tuple[str, str]) -> None:
        super().__init__(message)
        self.answer = json_answer(status, {"error": message}, *headers)


class WalletLogin(Handlers[R], Generic[R, U]):
    """Handlers below `path`: `POST /wallet/login`, `/wallet/register`, `GET /poll`, and `POST /events`.

    - `find_user(public_key)` returns the user with this key, or None. Keys are normalized: compressed, lower-case hex.
    - `create_user(public_key, device_info)` creates and returns the user; None if the key has a user in the meantime.
    - `sign_in(login, request)`: as in `Login`, with your user.
    - `codes`: a custom store, for sites with several processes.
    - `on_error(error, step)` receives errors of the service and of the site's functions, as in `Login`.
    - `bind_poll=False` logs in any browser with the `sid`, as the specification defines it. It permits relayed codes.
    """

    routes = (("POST", "wallet/login"), ("POST", "wallet/register"), ("GET", "poll"), ("POST", "events"))

    def __init__(
        self,
        client: Signpost | AsyncSignpost,
        *,
        domain: str,
        site: str,
        find_user: Callable[[str], U | None | Awaitable[U | None]],
        create_user: Callable[[str, Mapping[str, Any]], U | None | Awaitable[U | None]],
        sign_in: SignIn[U, R],
        path: str = "/signpost",
        codes: Codes | None = None,
        bind_poll: bool = True,
        webhook_secrets: str | Iterable[str] = (),
        on_event: Callable[[Event], Any] | None = None,
        seen_events: SeenEvents | None = None,
        on_error: OnError | None = None,
    ) -> None:
        super().__init__(
            client,
            domain=domain,
            site=site,
            path=path,
            webhook_secrets=webhook_secrets,
            on_event=on_event,
            seen_events=seen_events,
            on_error=on_error,
        )
        self._find_user, self._create_user, self._sign_in = find_user, create_user, sign_in
        self._codes, self._bind_poll = codes or MemoryCodes(), bind_poll
        self._sessions = SessionCalls(self.core.in_a_hurry())
        # A rate limit is reported to the wallet at once, because the wallet can wait better than this server.
        self._impatient = self.core.without_retries()

    def show_code(self, mode: WalletMode = "login", *, next: str = "/") -> ShownCode:
        """Returns a new code, for the browser that gets it together with the page and its cookie."""
        return self.core.run(self._show(mode, next))

    async def show_code_async(self, mode: WalletMode = "login", *, next: str = "/") -> ShownCode:
        """Like `show_code`, for event loops."""
        return await self.core.run_async(self._show(mode, next))

    def refresh_code(self, sid: str, cookie_header: str) -> ShownCode | None:
        """Replaces a code that is about to expire. None if the request's browser was not shown the code.

        `cookie_header` is the request's `Cookie`. The browser's cookie stays valid.
        """
        return self.core.run(self._refresh(sid, cookie_header))

    async def refresh_code_async(self, sid: str, cookie_header: str) -> ShownCode | None:
        """Like `refresh_code`, for event loops."""
        return await self.core.run_async(self._refresh(sid, cookie_header))

    def answer(self, name: str, incoming: Incoming, request: R) -> Steps[Answer | None]:
        """Handles a request for this handler."""
        if name == "events" or (name != "poll" and _is_event(incoming)):
            return (yield from self.accept_event(incoming))
        try:
            if name == "poll":
                return (yield from self._poll(incoming, request))
            return (yield from self._take("login" if name == "wallet/login" else "register", incoming.body))
        except _Refusal as refusal:
            return refusal.answer
        except Exception as error:
            yield from self.report(error, "wallet")
            return json_answer(500, {"error": "something went wrong on this server: try again"})

    def _show(self, mode: WalletMode, next: str) -> Steps[ShownCode]:
        webhook_url = f"{self.site.origin}{self.path}/wallet/{mode}"
        session = yield from self._sessions.create(domain=self.domain, mode=mode, webhook_url=webhook_url)
        value, target = encode(self.random(32)), next if is_local_path(next) else "/"
        binding = hashlib.sha256(value.encode()).hexdigest()
        ends = datetime.fromisoformat(session.expires_at).timestamp()
        yield from ask(self._codes.put, Code(session.id, session.challenge, mode, ends, binding, target))
        cookie = self.site.set_cookie(cookie_of("code", session.id), value, STATE_SECONDS)
        return ShownCode(session.id, session.qr_data, session.expires_at, cookie)

    def _refresh(self, sid: str, cookie_header: str) -> Steps[ShownCode | None]:
        code = yield from ask(self._codes.get, sid)
        if code is None or code.public_key is not None or not self._is_bound(code, cookie_header):
            return None
        session = yield from self._sessions.refresh(sid)
        ends = datetime.fromisoformat(session.expires_at).timestamp()
        yield from ask(self._codes.put, replace(code, challenge=session.challenge, expires_at=ends))
        return ShownCode(sid, session.qr_data, session.expires_at, "")

    def _take(self, mode: WalletMode, body: bytes) -> Steps[Answer]:
        answer = _read_answer(body)
        if abs(answer["timestamp"] - int(self.now())) > _TOLERANCE:
            raise _Refusal(
                408, "the timestamp is more than 30 seconds from this server's time: sign again, or set the clock"
            )
        challenge = _canonical_challenge(answer["challenge"])
        code = None if challenge is None else (yield from ask(self._codes.find, challenge))
        if code is None or code.mode != mode or code.public_key is not None or code.expires_at <= self.now():
            raise _not_held()
        key = _canonical_key(answer["public_key"])
        if key is None or not re.fullmatch("([0-9a-fA-F]{2}){8,72}", answer["signature"]):
            raise _not_verified()
        user = yield from ask(self._find_user, key)
        if (user is None) == (mode == "login"):
            yield from self._verify(answer)
            if mode == "login":
                raise _Refusal(404, "no user has this public key: register first")
            raise _user_exists()
        session = yield from self._mark(code.sid, answer)
        if mode == "register" and (yield from ask(self._create_user, key, answer.get("device_info", {}))) is None:
            raise _user_exists()
        yield from ask(self._codes.put, replace(code, public_key=key))
        done = {"login": ("authenticated", "logged in to"), "register": ("registered", "registered with")}
        reply = {"status": done[mode][0], "message": f"{done[mode][1]} {self.domain}"}
        return json_answer(200, reply | ({"redirect": session.redirect} if session.redirect else {}))

    def _mark(self, sid: str, answer: Mapping[str, Any]) -> Steps[Session]:
        try:
            return (yield from SessionCalls(self._impatient).authenticate(sid, answer))
        except SignpostError as error:
            if error.status in (404, 409, 410):
                raise _not_held() from None
            if error.status == 408:
                raise _Refusal(408, error.message) from None
            raise _passed_on(error) from None

    def _verify(self, answer: Mapping[str, Any]) -> Steps[None]:
        signed = {"message": answer["challenge"], "signature": answer["signature"], "public_key": answer["public_key"]}
        try:
            verification = yield from ServiceCalls(self._impatient).verify(**signed)
        except SignpostError as error:
            raise _passed_on(error) from None
        if not verification.valid:
            raise _not_verified()

    def _poll(self, incoming: Incoming, request: R) -> Steps[Answer]:
        sid = incoming.parameter("sid")
        if not sid:
            raise _Refusal(400, "the query parameter sid is missing: poll with ?sid=<session id>")
        code = yield from ask(self._codes.get, sid)
        if code is None:
            return json_answer(404, {"status": "not_found"})
        if code.public_key is None or not self._may_know(code, incoming):
            return json_answer(200, {"status": "pending"})
        cookies, target = list[str](), code.next if is_local_path(code.next) else "/"
        if (yield from ask(self._codes.complete, sid)):
            try:
                cookies = yield from self._log_in(code, code.public_key, target, request)
            except (Exception, asyncio.CancelledError):
                yield from ask(self._codes.reopen, sid)
                raise
        reply = {"status": "authenticated", "redirect": target}
        return json_answer(200, reply, *(("Set-Cookie", cookie) for cookie in cookies))

    def _log_in(self, code: Code, public_key: str, target: str, request: R) -> Steps[list[str]]:
        user = yield from ask(self._find_user, public_key)
        if user is None:
            return []
        proven = SessionUser(public_key=public_key, device_info=Device())
        session = Session(id=code.sid, status="authenticated", mode=code.mode, user=proven)
        own = yield from ask(self._sign_in, LoggedIn(user, session, code.mode, target), request)
        return [*(own or ())]

    def _may_know(self, code: Code, incoming: Incoming) -> bool:
        if not self._bind_poll:
            return True
        fields = incoming.fields
        is_own = fields.get("origin", self.site.origin) == self.site.origin
        is_own = is_own and fields.get("sec-fetch-site", "none") in ("same-origin", "none")
        return is_own and self._is_bound(code, fields.get("cookie", ""))

    def _is_bound(self, code: Code, cookie_header: str) -> bool:
        values = cookie_values(cookie_header, self.site.cookie_name(cookie_of("code", code.sid)))
        digests = [hashlib.sha256(value.encode("utf-8", "replace")).hexdigest() for value in values]
        return any([hmac.compare_digest(digest, code.binding) for digest in digests])


def _read_answer(body: bytes) -> dict[str, Any]:
    if len(body) > MAX_BODY:
        raise _Refusal(413, "the body is too long: at most 64 KiB are accepted")
    try:
        posted = json.loads(body)
    except (ValueError, RecursionError):
        posted = None
    if not isinstance(posted, dict):
        raise _Refusal(400, "the body is not a JSON object with public_key, signature, challenge and timestamp")
    answer: dict[str, Any] = {name: _member(posted, name, str) for name in ("public_key", "signature", "challenge")}
    answer["timestamp"] = _member(posted, "timestamp", int)
    if posted.get("device_info") is not None:
        device = _member(posted, "device_info", dict)
        limits = {"platform": 32, "version": 64, "device_id": 128}
        answer["device_info"] = {name: _member(device, name, str) for name in limits if device.get(name) is not None}
        if any(len(text) > limits[name] for name, text in answer["device_info"].items()):
            message = "a field of device_info is too long: platform has 32 characters, version 64, device_id 128"
            raise _Refusal(400, message)
    if posted.get("confirm_code") is not None:
        answer["confirm_code"] = _member(posted, "confirm_code", str)
    return answer


def _member(members: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = members.get(name)
    if value is None:
        raise _Refusal(400, f"the field {name} is missing: public_key, signature, challenge and timestamp are required")
    if type(value) is not kind:
        raise _Refusal(400, f"the field {name} is of a wrong type")
    return value


def _canonical_challenge(text: str) -> str | None:
    """Returns the `svc:` form of a challenge of either form."""
    if found := re.fullmatch(f"svc:(login|register):([^: ]+):{_NONCE}", text):
        return f"svc:{found[1]}:{found[2]}:{found[3]}"
    if found := re.fullmatch(f"Sign this to (login|register) to ([^: ]+) at {_NONCE}", text):
        return f"svc:{found[1]}:{found[2]}:{found[3]}"
    return None


def _canonical_key(text: str) -> str | None:
    """Returns the compressed form. The service checks whether it is a point of the curve."""
    if re.fullmatch("0[23][0-9a-fA-F]{64}", text):
        return text.lower()
    if re.fullmatch("04[0-9a-fA-F]{128}", text):
        return ("03" if int(text[-1], 16) % 2 else "02") + text[2:66].lower()
    return None


def _is_event(incoming: Incoming) -> bool:
    """Returns whether this is an event. Events are posted to the wallets' URL unless the domain has an `event_url`."""
    if {"x-svc-signature", "webhook-signature"} & incoming.fields.keys():
        return True
    try:
        return "event" in json.loads(incoming.body)
    except (ValueError, TypeError, RecursionError):
        return False


def _user_exists() -> _Refusal:
    return _Refusal(409, "a user with this public key exists: log in instead")


def _not_held() -> _Refusal:
    return _Refusal(404, "no session waits for an answer to this challenge: scan the code again")


def _not_verified() -> _Refusal:
    return _Refusal(406, "the signature was not made by this key over this challenge")


def _passed_on(error: SignpostError) -> Exception:
    if error.status in (400, 406):
        return _not_verified()
    if error.status == 429:
        wait = max(1, math.ceil(error.retry_after or 1))
        return _Refusal(429, f"too many requests; try again in {wait} s", ("Retry-After", str(wait)))
    return error
