"""The login handlers: vectors/login_handlers.json, requests of a browser with a scripted service."""

import asyncio
import json
import logging
from typing import Any

import pytest

from signpost_sdk import AsyncSignpost, HttpReply, HttpRequest, Signpost, SignpostError
from signpost_sdk.login import Answer, HandlerStep, Incoming, LoggedIn, Login, LoginUser

from .vectors import read

VECTORS = read("login_handlers.json")
API = "https://login.example/v1"


class Browser:
    """The cookies of a browser, in the order in which they were first set."""

    def __init__(self) -> None:
        self.cookies: dict[str, str] = {}

    def header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def replace(self, header: str) -> None:
        pairs = (pair.partition("=") for pair in header.split("; ") if pair)
        self.cookies = {name: value for name, _, value in pairs}

    def store(self, lines: list[str]) -> None:
        for line in lines:
            pair, *attributes = line.split("; ")
            name, _, value = pair.partition("=")
            if "Max-Age=0" in attributes:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value


class Service:
    """A scripted service, which compares each call."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def __call__(self, request: HttpRequest) -> HttpReply:
        assert self.calls, f"{request.method} {request.url} was not expected"
        call = dict(self.calls.pop(0))
        reply = call.pop("reply")
        made = {"method": request.method, "path": request.url.removeprefix(API)}
        assert made | ({"body": json.loads(request.body)} if request.body else {}) == call
        if reply.get("lost"):
            raise ConnectionError("the connection was lost")
        headers = {"x-request-id": reply["request_id"]} if "request_id" in reply else {}
        text = reply["text"] if "text" in reply else json.dumps(reply["json"])
        return HttpReply(reply["status"], headers, text.encode())

    async def call(self, request: HttpRequest) -> HttpReply:
        return self(request)


class Play:
    """A site, its service and a browser, for the steps of a case."""

    def __init__(self, options: dict[str, Any], is_async: bool) -> None:
        self.browser, self.service, self.is_async = Browser(), Service(), is_async
        self.step: dict[str, Any] = {}
        self.signs_in: list[LoggedIn[LoginUser]] = []
        self.signs_out, self.errors = 0, list[dict[str, Any]]()
        client: Signpost | AsyncSignpost = Signpost("key", base_url=API, retries=0, transport=self.service)
        if is_async:
            client = AsyncSignpost("key", base_url=API, retries=0, transport=self.service.call)
        self.login = Login[None](
            client,
            domain=VECTORS["domain"],
            site=VECTORS["site"],
            path=VECTORS["path"],
            failed_path=options.get("failed_path", VECTORS["failed_path"]),
            cookie_secret=VECTORS["cookie_secret"],
            sign_in=lambda login, request: self.signs_in.append(login),
            sign_out=None if options.get("sign_out") is False else self.sign_out,
            current_user=None if options.get("has_current_user") is False else self.current_user,
            confirm_recent=(lambda request: options["confirm_recent"]) if "confirm_recent" in options else None,
            on_error=self.on_error,
            startup_check=False,
        )
        self.login.now = lambda: self.step.get("now", 1_700_000_000)
        self.login.random = lambda size: bytes.fromhex(self.step.get("random", bytes(range(32)).hex()))[:size]

    def current_user(self, request: None) -> str | None:
        user: str | None = self.step.get("current_user")
        return user

    def sign_out(self, request: None) -> None:
        self.signs_out += 1

    def on_error(self, error: Exception, step: HandlerStep) -> None:
        assert isinstance(error, SignpostError)
        facts = {"code": error.code, "step": step, "status": error.status, "request_id": error.request_id}
        self.errors.append({name: value for name, value in facts.items() if value})

    def run(self, step: dict[str, Any]) -> Answer:
        self.step, self.signs_in, self.signs_out, self.errors = step, [], 0, []
        if "cookies" in step:
            self.browser.replace(step["cookies"])
        self.service.calls = [*step.get("service", [])]
        asked = step["request"]
        path, _, query = asked["path"].partition("?")
        cookies = self.browser.header()
        headers = {"host": "shop.example", **asked.get("headers", {})} | ({"cookie": cookies} if cookies else {})
        incoming = Incoming(asked["method"], path, query, headers)
        made = (
            asyncio.run(self.login.handle_async(incoming, None)) if self.is_async else self.login.handle(incoming, None)
        )
        assert made is not None and self.service.calls == []
        self.browser.store([value for name, value in made.headers if name == "Set-Cookie"])
        return made


def on_the_wire(login: LoggedIn[LoginUser]) -> dict[str, Any]:
    user = login.user
    members = {
        "id": user.id, "username": user.username, "name": user.name, "external_id": user.external_id,
        "groups": None if user.groups is None else [*user.groups], "metadata": user.metadata, "is_new": user.is_new,
    }  # fmt: skip
    known = {name: value for name, value in members.items() if value is not None}
    return {"user": known, "mode": login.mode, "next": login.next, "method": login.method}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_login_handlers_pass_the_vectors(
    case: dict[str, Any], is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    play = Play(case, is_async)
    for step in case["steps"]:
        for _ in range(step.get("times", 1)):
            caplog.clear()
            with caplog.at_level(logging.WARNING, "signpost_sdk"):
                made = play.run(step)
            check(made, play, step["expect"])
            assert len(caplog.records) == step["expect"].get("logs", len(caplog.records))


def check(made: Answer, play: Play, expected: dict[str, Any]) -> None:
    headers = {name.lower(): value for name, value in made.headers if name != "Set-Cookie"}
    cookies = [value for name, value in made.headers if name == "Set-Cookie"]
    assert (made.status, headers.get("location")) == (expected["status"], expected.get("location"))
    assert cookies == expected.get("set_cookie", [])
    assert headers.items() >= {"cache-control": "no-store", **expected.get("headers", {})}.items()
    assert play.errors == expected.get("errors", [])
    assert [on_the_wire(login) for login in play.signs_in] == ([expected["signs_in"]] if "signs_in" in expected else [])
    assert play.signs_out == (1 if expected.get("signs_out") else 0)
