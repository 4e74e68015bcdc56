"""Requests and results of the clients: vectors/client.json, against sdk/replies.py."""

import asyncio
import itertools
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import urlopen

import httpx2
import pytest

from signpost_sdk import AsyncSignpost, Signpost, SignpostError
from signpost_sdk.httpx import AsyncHttpxTransport, HttpxTransport

from .vectors import ROOT, read, to_wire

VECTORS = read("client.json")
CASES = VECTORS["cases"]
KINDS = ["sync", "async", "httpx", "async-httpx"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ports(kind: str) -> Iterator[dict[str, int]]:
    program = [sys.executable, str(ROOT / "sdk/replies.py"), str(ROOT / "vectors/client.json")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as service:
        assert service.stdin and service.stdout
        yield json.loads(service.stdout.readline())
        service.stdin.close()


def test_client_passes_the_vectors(kind: str, ports: dict[str, int]) -> None:
    wrong = []
    for case in CASES:
        try:
            check(case, kind, ports[case["name"]])
        except AssertionError as error:
            wrong.append(f"{case['name']}: {error}")
    assert not wrong, "\n\n".join(wrong)
    assert len(CASES) > 60


def check(case: dict[str, Any], kind: str, port: int) -> None:
    waits: list[float] = []
    result, error = asyncio.run(perform(case, kind, port, waits))
    expected = case.get("error")
    assert (error is None) == (expected is None), f"{error!r}, {result}"
    if error is not None and expected is not None:
        assert VECTORS["key"] not in f"{error!r} {error} {error.__dict__}"
        found: dict[str, Any] = {
            "code": error.code,
            "status": error.status,
            "details": error.details,
            "request_id": error.request_id,
        }
        found["retry_after"] = error.retry_after
        wanted = {"status": None} | expected
        assert {name: found[name] for name in wanted} == wanted
    if "result" in case:
        assert to_wire(result) == case["result"]
    if "result_has" in case:
        assert to_wire(result).items() >= case["result_has"].items()
    if "waits" in case:
        between = [low <= wait * 1000 <= high for wait, (low, high) in zip(waits, case["waits"], strict=False)]
        assert len(waits) == len(case["waits"]) and all(between), waits
    with urlopen(f"http://127.0.0.1:{port}/seen") as reply:
        check_requests(case, json.load(reply))


def check_requests(case: dict[str, Any], seen: list[dict[str, Any]]) -> None:
    assert len(seen) == len(case["requests"]), seen
    for request, expected in zip(seen, case["requests"], strict=True):
        assert request["method"] == expected["method"]
        path, wanted = urlsplit(request["path"]), urlsplit(expected["path"])
        assert path.path == wanted.path and sorted(parse_qsl(path.query)) == sorted(parse_qsl(wanted.query)), path
        if "body" in expected:
            assert request["body"] == expected["body"]
        headers = request["headers"]
        assert all(name in headers for name in expected.get("has", [])), headers
        assert not any(name in headers for name in expected.get("lacks", [])), headers
        assert headers.items() >= expected.get("headers", {}).items()
        assert headers["user-agent"].startswith("signpost-sdk-python/")
        if wanted.path != "/mcp":
            assert headers["authorization"] == f"Bearer {VECTORS['key']}"
    if case.get("same_idempotency_key"):
        keys = {request["headers"]["idempotency-key"] for request in seen}
        assert len(keys) == 1 and all(keys)


async def perform(case: dict[str, Any], kind: str, port: int, waits: list[float]) -> tuple[Any, SignpostError | None]:
    base_url, options = f"http://127.0.0.1:{port}/sandbox/v1", case.get("options", {})
    arguments = dict(case["arguments"])
    given = [arguments.pop(name) for name in ("id", "domain_id", "user", "credential", "sign_in") if is_own(case, name)]
    if case["call"] == "sessions.authenticate":
        given, arguments = [*given, arguments], {}
    named = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): value for name, value in arguments.items()}
    try:
        if "async" in kind:
            own = httpx2.AsyncClient(verify=False) if "httpx" in kind else None
            transport = AsyncHttpxTransport(own) if own else None
            async with AsyncSignpost(VECTORS["key"], base_url=base_url, transport=transport, **options) as client:
                prepare(client, case, waits)
                made = find(client, case["call"])(*given, **named)
                if isinstance(made, AsyncIterator):
                    return tuple([item async for item in made]), None
                result = await made
            if own:
                await own.aclose()
            return result, None
        with httpx2.Client(verify=False) as blocking_one:
            sync_transport = HttpxTransport(blocking_one) if kind == "httpx" else None
            with Signpost(VECTORS["key"], base_url=base_url, transport=sync_transport, **options) as sync_client:
                prepare(sync_client, case, waits)
                result = find(sync_client, case["call"])(*given, **named)
                return (tuple(result) if isinstance(result, Iterator) else result), None
    except SignpostError as error:
        return None, error


def is_own(case: dict[str, Any], name: str) -> bool:
    return name in case["arguments"] and not (case["call"] == "sessions.create" and name == "user")


def find(client: Any, call: str) -> Any:
    for name in call.split("."):
        client = getattr(client, name)
    return client


def prepare(client: Signpost | AsyncSignpost, case: dict[str, Any], waits: list[float]) -> None:
    if "now" in case:
        now = datetime.fromisoformat(case["now"]).timestamp()
        client.core.now = lambda: now

    # The simulated service waits as requested.
    client.core.monotonic = itertools.count(step=2).__next__

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    client.core.sleep = waits.append
    client.core.sleep_async = sleep
