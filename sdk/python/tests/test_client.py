"""The client in addition to the vectors: connections, time-outs, secrets, and waiting for a session."""

import asyncio
import os
import pickle
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pytest

from signpost_sdk import AsyncSignpost, HttpReply, HttpRequest, Signpost, SignpostError
from signpost_sdk.handlers import MAX_SEEN, MemoryEvents
from signpost_sdk.transport import HttpTransport
from signpost_sdk.wallet import Code, MemoryCodes

KEY = "svc_test_secret"
PENDING = b'{"id": "sess_1", "status": "pending"}'


@contextmanager
def service(closes: bool = False) -> Iterator[tuple[str, list[int]]]:
    """A service with pending sessions only; yields its URL and the clients' ports."""
    ports: list[int] = []

    class Service(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            ports.append(self.client_address[1])
            self.send_response(200)
            self.send_header("Content-Length", str(len(PENDING)))
            self.end_headers()
            self.wfile.write(PENDING)
            self.close_connection = closes

        do_DELETE = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", ports
        finally:
            server.shutdown()
            thread.join()


def test_connection_is_reused() -> None:
    with service() as (base_url, ports), Signpost(KEY, base_url=base_url) as client:
        for _ in range(3):
            client.sessions.get("sess_1")
        assert len(set(ports)) == 1 and len(ports) == 3


def test_closed_connection_is_not_reused() -> None:
    with service(closes=True) as (base_url, ports):
        transport = HttpTransport()
        client = Signpost(KEY, base_url=base_url, retries=0, transport=transport)
        for _ in range(3):
            client.sessions.get("sess_1")
            [(_, connection, _)] = transport._idle
            assert select.select([connection.sock], [], [], 20)[0], "the service closes it"
        client.close()
        assert len(set(ports)) == 3


def test_one_shot_request_uses_a_new_connection() -> None:
    with service() as (base_url, ports), Signpost(KEY, base_url=base_url, retries=0) as client:
        client.sessions.get("sess_1")
        with pytest.raises(SignpostError, match="204"):
            client.sessions.cancel("sess_1")
        client.sessions.get("sess_1")
        assert ports[0] != ports[1]


def test_threads_share_a_client() -> None:
    with service() as (base_url, ports), Signpost(KEY, base_url=base_url, retries=0) as client:
        threads = [threading.Thread(target=client.sessions.get, args=("sess_1",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ports) == 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_process_opens_new_connections() -> None:
    with service() as (base_url, ports), Signpost(KEY, base_url=base_url, retries=0) as client:
        client.sessions.get("sess_1")
        child = os.fork()
        if child == 0:
            client.sessions.get("sess_1")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        client.sessions.get("sess_1")
        assert len(set(ports)) == 2 and ports[0] == ports[2]


def test_silent_service_is_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = Signpost(KEY, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}/v1", timeout=0.05, retries=1)
        client.core.sleep = lambda seconds: None
        with pytest.raises(SignpostError) as caught:
            client.sessions.get("sess_1")
        assert caught.value.code == "timeout" and caught.value.status is None


HEADS = [b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow:", b"HTTP/1.1 200"]
HEADS += [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"]


@pytest.mark.parametrize(("head", "drop"), [*((head, b" ") for head in HEADS), (b"", b"HTTP/1.1 100 Continue\r\n\r\n")])
def test_timeout_covers_the_whole_exchange(head: bytes, drop: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as slow:

        def drip() -> None:
            connection, _ = slow.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(head)
                try:
                    while True:
                        connection.sendall(drop)
                        gone.wait(0.01)
                except OSError:
                    pass

        gone = threading.Event()
        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        base_url = f"http://127.0.0.1:{slow.getsockname()[1]}/v1"
        with pytest.raises(SignpostError) as caught:
            Signpost(KEY, base_url=base_url, timeout=0.3, retries=0).sessions.get("sess_1")
        assert caught.value.code == "timeout"
        thread.join()


WRONG_URLS = ["ftp://a/v1", "localhost:8080", "http://", "http://a/v1?x=1", "http://a/v1#x", "http://u@a/v1", ""]
WRONG_URLS += [
    "http://u:secret@a/v1",
    "http://[::1/v1",
    " http://a/v1",
    "http://a/v1#",
    "http://a/v1?",
    f"http://{'a' * 64}.b/",
]
WRONG_URLS += ["http://a:b/v1", "http://a:99999/v1", "http://a /v1", "http://a/v1\n", "http://grüße/v1"]


@pytest.mark.parametrize("url", WRONG_URLS)
def test_invalid_base_url_is_rejected(url: str) -> None:
    with pytest.raises(SignpostError) as caught:
        Signpost(KEY, base_url=url)
    assert caught.value.code == "invalid_argument" and "secret" not in str(caught.value)
    assert Signpost(KEY, base_url="https://login.example/v1/").core.base_url == "https://login.example/v1"


@pytest.mark.parametrize("key", ["svc_test_secret\n", "svc_test_\u00e9", "svc_test_secret\r\nX-Other: 1"])
def test_unsendable_key_is_rejected(key: str) -> None:
    client = Signpost(key, transport=lambda request: pytest.fail("sent"))
    with pytest.raises(SignpostError) as caught:
        client.domains.list()
    assert caught.value.code == "invalid_argument" and "svc_test" not in str(caught.value)
    for odd in ("", "anything", "a b"):
        Signpost(odd)
        AsyncSignpost(odd)


def test_key_is_never_printed() -> None:
    client = Signpost(KEY, base_url="http://127.0.0.1:1/v1", retries=0)
    with pytest.raises(SignpostError) as caught:
        client.domains.list()
    error = caught.value
    assert error.code == "connection_failed"
    shown = f"{client!r} {client} {client.core!r} {error!r} {error} {error.__dict__} {error.__cause__!r} {AsyncSignpost(KEY)!r}"
    request = HttpRequest("GET", "http://a", 1, {"Authorization": f"Bearer {KEY}"})
    assert KEY not in f"{shown} {request!r}"


def test_error_can_be_pickled() -> None:
    error = SignpostError("rate_limited", "wait", status=429, details={"a": 1}, request_id="req_1", retry_after=3)
    again = pickle.loads(pickle.dumps(error))
    assert again.__dict__ == error.__dict__ and again.retry_after == 3
    assert str(again) == str(error) == "wait (req_1)"


def test_invalid_json_is_not_sent() -> None:
    client = Signpost(KEY, transport=lambda request: pytest.fail("sent"))
    for metadata in ({"a": float("nan")}, {"a": object()}, {"a": "\ud800"}):
        with pytest.raises(SignpostError) as caught:
            client.sessions.create(domain="localhost", metadata=metadata)
        assert caught.value.code == "invalid_argument"


@pytest.mark.parametrize("content", [b"null", b"[1]", b'[{"type": "text", "text": "no"}]', b'{"a": 1}'])
def test_malformed_tool_error_is_a_tool_error(content: bytes) -> None:
    reply = HttpReply(200, {}, b'{"result": {"isError": true, "content": ' + content + b"}}")
    with pytest.raises(SignpostError) as caught:
        Signpost(KEY, transport=lambda request: reply).atms.get(1)
    assert caught.value.code == "tool_error"


def test_wait_polls_once_a_second_until_its_timeout() -> None:
    asked: list[str] = []
    pauses: list[float] = []
    clock = 0.0

    def reply(request: HttpRequest) -> HttpReply:
        nonlocal clock
        clock += 0.25
        asked.append(request.url.partition("?")[2])
        assert request.timeout == 30 + int(asked[-1].removeprefix("wait="))
        return HttpReply(200, {}, PENDING)

    def sleep(seconds: float) -> None:
        nonlocal clock
        clock += seconds
        pauses.append(seconds)

    client = Signpost(KEY, transport=reply)
    client.core.monotonic, client.core.sleep = lambda: clock, sleep
    assert client.sessions.wait("sess_1", timeout=27.5).status == "pending"
    # A reply comes early, but there is at most a single request per second.
    assert asked == [*(f"wait={min(25, 28 - at)}" for at in range(28)), "wait=0"] and set(pauses) == {0.75, 0.25}
    assert 27.5 <= clock < 28
    asked.clear()
    assert client.sessions.wait("sess_1", timeout=0).status == "pending" and asked == ["wait=0"]


@pytest.mark.parametrize("body", [b"<html>Log in to this network</html>", b""])
def test_foreign_page_is_an_invalid_response(body: bytes) -> None:
    client = Signpost(KEY, transport=lambda request: HttpReply(200, {}, body))
    for call in (client.domains.delete, client.sessions.cancel, client.sessions.qr_svg, client.sessions.get):
        with pytest.raises(SignpostError) as caught:
            call("sess_1")
        assert caught.value.code == "invalid_response"


def test_cancelled_task_ends_at_once() -> None:
    async def never(request: HttpRequest) -> HttpReply:
        await asyncio.Event().wait()
        raise AssertionError

    async def main() -> None:
        task = asyncio.create_task(AsyncSignpost(KEY, transport=never).sessions.wait("sess_1"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_repeated_cursor_is_an_error() -> None:
    reply = HttpReply(200, {}, b'{"domains": [], "next_cursor": "c"}')
    with pytest.raises(SignpostError) as caught:
        list(Signpost(KEY, transport=lambda request: reply).domains.all())
    assert caught.value.code == "invalid_response"


def test_untrusted_certificate_is_rejected() -> None:
    context = ssl.create_default_context()
    with service() as (base_url, _):
        client = Signpost(KEY, base_url=base_url.replace("http:", "https:"), ssl_context=context, retries=0)
        with pytest.raises(SignpostError) as caught:
            client.sessions.get("sess_1")
    assert caught.value.code == "connection_failed"


def test_memory_stores_are_bounded() -> None:
    events, codes = MemoryEvents(), MemoryCodes()
    for at in range(MAX_SEEN + 1):
        events.add(f"evt_{at}")
        codes.put(Code(f"sess_{at}", f"svc:{at}", "login", 0, "", "/"))
    assert not events.has("evt_0") and events.has("evt_1") and events.has(f"evt_{MAX_SEEN}")
    assert codes.find("svc:0") is None and codes.get("sess_0") is None and not codes.complete("sess_0")
    assert codes.find("svc:1") and codes.complete("sess_1") and not codes.complete("sess_1")
    codes.put(Code("sess_1", "svc:new", "login", 0, "", "/"))
    assert codes.find("svc:1") is None and codes.find("svc:new") == codes.get("sess_1")


def test_unpaired_surrogate_is_rejected() -> None:
    client = Signpost(KEY, transport=lambda request: pytest.fail("sent"))
    for call in (lambda: client.sessions.get("\ud800"), lambda: client.sessions.list(cursor="\ud800")):
        with pytest.raises(SignpostError) as caught:
            call()
        assert caught.value.code == "invalid_argument"


@pytest.mark.parametrize("kind", ["image/svg+xml", "Image/SVG+XML; charset=utf-8", "text/html", ""])
def test_qr_code_requires_its_content_type(kind: str) -> None:
    client = Signpost(KEY, transport=lambda request: HttpReply(200, {"content-type": kind}, b"<svg/>"))
    if "svg" in kind.lower():
        assert client.sessions.qr_svg("sess_1") == "<svg/>"
        return
    with pytest.raises(SignpostError) as caught:
        client.sessions.qr_svg("sess_1")
    assert caught.value.code == "invalid_response"


def test_long_polls_do_not_block_other_calls() -> None:
    release = threading.Event()

    def reply(request: HttpRequest) -> HttpReply:
        if "slow" in request.url:
            release.wait(30)
        return HttpReply(200, {}, PENDING)

    async def main() -> None:
        client = AsyncSignpost(KEY, timeout=5, retries=0)
        client.core.send_sync = reply
        waits = [asyncio.create_task(client.sessions.get("slow", wait=25)) for _ in range(40)]
        await asyncio.sleep(0)
        assert (await client.sessions.get("sess_1")).status == "pending"
        calls = [asyncio.create_task(client.sessions.get("slow")) for _ in range(32)]
        await asyncio.sleep(0)
        client.core.timeout = 0.05
        with pytest.raises(SignpostError) as caught:
            await client.sessions.get("sess_1")
        assert caught.value.code == "timeout"
        release.set()
        await asyncio.gather(*waits, *calls)
        await client.aclose()

    try:
        asyncio.run(main())
    finally:
        release.set()


def test_missing_key_is_rejected() -> None:
    with pytest.raises(SignpostError) as caught:
        Signpost(cast(str, os.environ.get("NO_SUCH_KEY")))
    assert caught.value.code == "invalid_argument"
    assert "is the variable set" in str(caught.value)
