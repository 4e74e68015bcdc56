"""The check of the settings when a site starts: a line in the log for a fault, and no effect on the site."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from signpost_sdk import AsyncSignpost, HttpReply, HttpRequest, Signpost, SignpostError, errors
from signpost_sdk.login import Incoming, Login
from signpost_sdk.wallet import WalletLogin

OPTIONS: dict[str, Any] = {
    "domain": "shop.example",
    "site": "https://shop.example",
    "cookie_secret": "c" * 32,
    "sign_in": lambda login, request: None,
}
HOSTED = {
    "id": "dom_1", "domain": "shop.example", "verified": True, "webhook_url": "", "created_at": "", "handler": "hosted",
    "verification_token": "", "methods": [], "registration": "open", "events": [],
}  # fmt: skip
Reply = Callable[[str], HttpReply]


def said(status: int, content: Any) -> HttpReply:
    return HttpReply(status, {"x-request-id": "req_1"}, json.dumps(content).encode())


def refused(status: int, code: str) -> HttpReply:
    return said(status, {"error": {"code": code, "message": "no", "details": {}}})


def lost(path: str) -> HttpReply:
    raise ConnectionError("no route")


def start(reply: Reply) -> list[str]:
    """Creates handlers with a blocking client, and waits for the check; returns the requested paths."""
    paths: list[str] = []

    def send(request: HttpRequest) -> HttpReply:
        paths.append(request.url.removeprefix("https://login.example/v1"))
        return reply(paths[-1])

    Login[None](Signpost("secret-key", base_url="https://login.example/v1", transport=send), **OPTIONS)
    wait()
    return paths


def wait() -> None:
    """Waits until the check has ended."""
    for thread in threading.enumerate():
        if thread.name == "signpost-startup":
            thread.join(10)


def start_on_loop(reply: Reply) -> list[str]:
    """Creates handlers with an async transport, and sends them a first request."""
    paths: list[str] = []

    async def send(request: HttpRequest) -> HttpReply:
        paths.append(request.url.removeprefix("https://login.example/v1"))
        return reply(paths[-1])

    async def main() -> None:
        login = Login[None](AsyncSignpost("secret-key", base_url="https://login.example/v1", transport=send), **OPTIONS)
        for _ in range(2):
            assert await login.handle_async(Incoming("GET", "/"), None) is None
        for _ in range(20):
            await asyncio.sleep(0)

    asyncio.run(main())
    return paths


STARTS = [start, start_on_loop]
FAULTS: list[tuple[Reply, str]] = [
    (lambda path: refused(401, "invalid_api_key"), "https://login.example/v1 rejects the API key: "),
    (lambda path: refused(403, "insufficient_scope"), "the API key has no scope auth"),
    (lost, "cannot be reached at the base URL https://login.example/v1"),
    (lambda path: HttpReply(200, {}, b"<h1>Welcome</h1>"), "https://login.example/v1 is not that of a Signpost server"),
    (lambda path: refused(404, "not_found"), "it ends in /v1 or /sandbox/v1"),
    (lambda path: refused(500, "internal_error"), "replied with internal_error (no (req_1))"),
    (lambda path: said(200, HOSTED | {"handler": "direct"}), "requires the handler hosted"),
    (
        lambda path: said(200, {"domains": []}) if "/domains?" in path else refused(404, "domain_not_found"),
        "shop.example is not registered with this API key: run signpost domains add shop.example",
    ),
]


@pytest.mark.parametrize("begin", STARTS)
@pytest.mark.parametrize(("reply", "line"), FAULTS, ids=[line for _, line in FAULTS])
def test_fault_is_one_line_in_the_log(
    reply: Reply, line: str, begin: Callable[[Reply], list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    begin(reply)
    assert len(caplog.messages) == 1 and line in caplog.text
    assert caplog.messages[0].startswith("signpost: logins will fail: ") and "secret-key" not in caplog.text


@pytest.mark.parametrize("begin", STARTS)
def test_correct_settings_log_nothing(begin: Callable[[Reply], list[str]], caplog: pytest.LogCaptureFixture) -> None:
    assert begin(lambda path: said(200, HOSTED)) == ["/domains/shop.example"]

    def find_by_id(path: str) -> HttpReply:
        if "/domains?" in path:
            return said(200, {"domains": [HOSTED]})
        return said(200, HOSTED) if path.endswith("dom_1") else refused(404, "domain_not_found")

    begin(find_by_id)
    assert caplog.messages == []


def test_failed_check_does_not_stop_the_site(caplog: pytest.LogCaptureFixture) -> None:
    def fail(path: str) -> HttpReply:
        raise RuntimeError("a fault of the transport")

    start(fail)
    start_on_loop(fail)
    assert caplog.messages == ["signpost: the check of the settings failed: a fault of the transport"] * 2


def test_check_uses_its_own_connection(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    for client in (Signpost, AsyncSignpost):
        made = client("key", base_url=f"http://127.0.0.1:{port}/v1")
        transport = made.core.send_sync
        Login[None](made, **OPTIONS)
        wait()
        assert made.core.send_sync is transport and made.core.threads is None
    assert len(caplog.messages) == 2 and f"cannot be reached at the base URL http://127.0.0.1:{port}/v1" in caplog.text


def test_startup_check_can_be_turned_off() -> None:
    def send(request: HttpRequest) -> HttpReply:
        raise AssertionError("a request was sent")

    Login[None](Signpost("key", transport=send), startup_check=False, **OPTIONS)
    assert not [thread for thread in threading.enumerate() if thread.name == "signpost-startup"]


def test_unknown_argument_is_an_error_with_its_name() -> None:
    wallet = {"domain": "a", "site": "https://a.example", "find_user": None, "create_user": None, "sign_in": None}
    for create, options in (
        (Login, {"client": Signpost("key")} | OPTIONS),
        (WalletLogin, {"client": Signpost("key")} | wallet),
        (Signpost, {"api_key": "key"}),
        (AsyncSignpost, {"api_key": "key"}),
        (Signpost("key").sessions.create, {"domain": "a"}),
    ):
        callback: Any = create
        with pytest.raises(TypeError, match="cookiesecret"):
            callback(**options, cookiesecret="c")


def test_error_has_the_class_of_its_code() -> None:
    error = SignpostError("session_expired", "too late", status=410)
    assert type(error) is errors.SessionExpiredError and error.code == "session_expired" and str(error) == "too late"
    assert type(SignpostError("a_later_code", "new")) is SignpostError
    with pytest.raises(errors.InvalidArgumentError):
        Signpost("key", base_url="nowhere")


def test_locator_has_its_own_url_and_token() -> None:
    sent: list[tuple[str, str | None]] = []

    def send(request: HttpRequest) -> HttpReply:
        sent.append((request.url, request.headers.get("Authorization")))
        return said(400, {"error": {"code": -1, "message": "no"}})

    both: list[dict[str, Any]] = [{}, {"mcp_url": "https://atm.example/mcp", "mcp_token": "token"}]
    for options in both:
        client = Signpost("key", transport=send, **options)
        with pytest.raises(errors.McpError):
            client.atms.get(7)
        assert "'token'" not in repr(client.core)
    assert sent == [("http://localhost:8080/mcp", None), ("https://atm.example/mcp", "Bearer token")]
    assert AsyncSignpost("key", mcp_url="https://atm.example/mcp").atms.mcp_url == "https://atm.example/mcp"
    for url in ("/mcp", "ftp://a/mcp", "https://me@a/mcp", "https://a/mcp#top"):
        with pytest.raises(errors.InvalidArgumentError):
            Signpost("key", mcp_url=url)
    for token in ("", "a\nb"):
        with pytest.raises(errors.InvalidArgumentError):
            Signpost("key", mcp_token=token)
