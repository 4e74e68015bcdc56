"""Responses of a site that receives wallets' answers: vectors/receiver.json, with a simulated service."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest

from signpost_sdk import AsyncSignpost, HttpReply, HttpRequest, Signpost
from signpost_sdk.cookies import cookie_of
from signpost_sdk.wallet import Answer, Code, Incoming, LoggedIn, MemoryCodes, WalletLogin, WalletMode, _is_event

from .vectors import read

VECTORS = read("receiver.json")
ANSWERED = [case for case in VECTORS["cases"] if case["handler"] in ("login", "register")]
GOOD = [case["request"]["body"] for case in ANSWERED if case["expect"]["status"] == 200]
SIGNATURES = {(body["public_key"], body["signature"], body["challenge"]) for body in GOOD}
UNSUPPORTED = {
    "an allowed source",
    "an allowed source, mapped into IPv6",
    "another source",
    "an unknown source",
    "another source comes before a wrong signature",
}
"""`allowed_sources` belongs to the proxy; every event is signed."""
BINDINGS = {"shown": "AQEB", "other": "AgIC"}


class Service:
    """Simulates POST /verify and POST /sessions/{id}/authenticate. Only the vectors' valid signatures are valid."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held, self.asked = held, list[str]()

    def __call__(self, request: HttpRequest) -> HttpReply:
        path, body = request.url.rpartition("/v1")[2], json.loads(request.body or b"{}")
        self.asked.append(path)
        if self.held.get("fails"):
            return self.refuse(500, "internal_error")
        if "busy" in self.held:
            return self.refuse(429, "rate_limited", {"retry-after": str(self.held["busy"])})
        message = body.get("message", body.get("challenge"))
        is_good = (body["public_key"], body["signature"], message) in SIGNATURES
        if path == "/verify":
            content = {"valid": is_good, "public_key": body["public_key"], "message_hash": "sha256:"}
            return HttpReply(200, {}, json.dumps(content).encode())
        if not is_good:
            return self.refuse(406, "invalid_signature")
        return HttpReply(200, {}, json.dumps({"id": "sess_1", "status": "authenticated"}).encode())

    def refuse(self, status: int, code: str, headers: Mapping[str, str] = {}) -> HttpReply:
        content = {"error": {"code": code, "message": "no", "details": {}}}
        return HttpReply(status, headers, json.dumps(content).encode())

    async def call(self, request: HttpRequest) -> HttpReply:
        return self(request)


class Site:
    """The site of a case, and its logins."""

    def __init__(self, case: dict[str, Any], is_async: bool) -> None:
        self.held, self.is_async = case["held"], is_async
        self.users = set(self.held.get("users", []))
        self.logged_in: list[str] = []
        self.service, codes = Service(self.held), MemoryCodes()
        for at, session in enumerate(self.held.get("sessions", [])):
            codes.put(self.code(f"sess_{at}", session["challenge"], session["state"], "/"))
        for code in self.held.get("codes", []):
            codes.put(self.code(code["sid"], "svc:", code["state"], code.get("return_url", "/")))
        for sid in self.held.get("completed", []):
            codes.complete(sid)
        client: Signpost | AsyncSignpost = Signpost("key", transport=self.service)
        if is_async:
            client = AsyncSignpost("key", transport=self.service.call)
        self.handlers: WalletLogin[None, str] = WalletLogin(
            client,
            domain="example.com",
            site=VECTORS["origin"],
            find_user=self.find_user,
            create_user=self.create_user_async if is_async else self.create_user,
            sign_in=self.sign_in,
            codes=Broken() if self.held.get("fails") else codes,
            bind_poll=self.held.get("bind_poll", True),
            webhook_secrets=self.held.get("secrets", ()),
            on_event=self.on_event,
            seen_events=Seen(self.held),
        )
        self.handlers.now = lambda: VECTORS["now"]

    def code(self, sid: str, challenge: str, state: str, target: str) -> Code:
        ends = VECTORS["now"] + (-1 if state == "expired" else 60)
        who = "02" + 64 * "0" if state in ("authenticated", "answered") else None
        mode: WalletMode = "register" if ":register:" in challenge else "login"
        binding = hashlib.sha256(BINDINGS["shown"].encode()).hexdigest()
        return Code(sid, challenge, mode, ends, binding, target, who)

    def find_user(self, public_key: str) -> str | None:
        assert public_key == public_key.lower() and len(public_key) == 66
        return public_key if public_key in self.users or public_key == "02" + 64 * "0" else None

    def create_user(self, public_key: str, device_info: Mapping[str, Any]) -> str:
        return public_key

    async def create_user_async(self, public_key: str, device_info: Mapping[str, Any]) -> str:
        return public_key

    def sign_in(self, login: LoggedIn[str], request: None) -> list[str]:
        self.logged_in.append(login.user)
        return ["login=1"]

    def on_event(self, event: Any) -> None:
        if self.held.get("fails"):
            raise RuntimeError("the database is away")


class Broken(MemoryCodes):
    def find(self, challenge: str, /) -> Code | None:
        raise RuntimeError("the database is away")

    get = find


class Seen:
    def __init__(self, held: dict[str, Any]) -> None:
        self.ids = set(held.get("seen", []))

    def has(self, id: str, /) -> bool:
        return id in self.ids

    def add(self, id: str, /) -> None:
        self.ids.add(id)


def incoming(case: dict[str, Any]) -> Incoming:
    request, headers = case["request"], dict(case["request"].get("headers", {}))
    if case["handler"] == "poll":
        headers |= {
            name: request[key]
            for name, key in (("Origin", "origin"), ("Sec-Fetch-Site", "sec_fetch_site"))
            if key in request
        }
        if value := BINDINGS.get(request["browser"]):
            headers["Cookie"] = f"a=b; __Host-{cookie_of('code', request.get('sid', ''))}={value}"
        return Incoming("GET", "/signpost/poll", f"sid={request['sid']}" if "sid" in request else "", headers)
    body = request["text"] if "text" in request else json.dumps(request["body"])
    names = {"login": "wallet/login", "register": "wallet/register", "event": "events", "classify": "wallet/login"}
    return Incoming("POST", f"/signpost/{names[case['handler']]}", "", headers, body.encode())


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_receiver_passes_the_vectors(case: dict[str, Any], is_async: bool) -> None:
    if case["name"] in UNSUPPORTED:
        assert "allowed_sources" in case["held"]
        return
    site, request = Site(case, is_async), incoming(case)
    expected = case["expect"]
    if case["handler"] == "classify" and expected["status"] == 200:
        assert _is_event(request) == (expected["body"]["post"] == "event")
        return
    handle = site.handlers
    answer: Answer | None = (
        asyncio.run(handle.handle_async(request, None)) if is_async else handle.handle(request, None)
    )
    assert answer is not None and answer.status == expected["status"], answer
    body, wanted = json.loads(answer.body), expected["body"]
    assert body.keys() == wanted.keys()
    assert all(body[name] == value or (value == "<text>" and body[name]) for name, value in wanted.items()), body
    if "logs_in" in expected:
        assert bool(site.logged_in) == expected["logs_in"] == (("Set-Cookie", "login=1") in answer.headers)
    if "retry_after" in expected:
        assert ("Retry-After", str(expected["retry_after"])) in answer.headers
    good = case["handler"] in ("login", "register") and expected["status"] == 200
    assert not good or site.service.asked == ["/sessions/sess_0/authenticate"], "a single request on success"
