"""Verification of events, and the event endpoint: vectors/events.json and webhook.json."""

import base64
import hashlib
import hmac
import json
from typing import Any, get_args

import pytest

from signpost_sdk import Event, Signpost, SignpostError
from signpost_sdk.login import Incoming, Login
from signpost_sdk.replies import UserEventKind
from signpost_sdk.webhooks import secret_keys, verify

from .vectors import read, to_wire

EVENTS = read("events.json")
SIGNATURES = read("webhook.json")


@pytest.mark.parametrize("case", EVENTS["verify"], ids=lambda case: case["name"])
def test_verify_passes_the_vectors(case: dict[str, Any]) -> None:
    body = case["parsed"] if "parsed" in case else case["body"].encode()
    for headers in shapes(case["headers"]):
        if "event" in case:
            event = verify(body, headers, case["secrets"], now=case["now"])
            assert event.raw == case["event"]
            assert is_within(to_wire(event), case["event"])
            assert {"event", "timestamp", "session_id", "data"} <= to_wire(event).keys()
            is_about_user = event.event in get_args(UserEventKind)
            assert (to_wire(event.user) if event.user else None) == (case["event"]["data"] if is_about_user else None)
            continue
        with pytest.raises(SignpostError) as caught:
            verify(body, headers, case["secrets"], now=case["now"])
        assert caught.value.code == case["error"]["code"]
        assert caught.value.details.get("reason") == case["error"].get("reason")
        assert not any(len(secret) > 12 and secret.strip() in str(caught.value) for secret in case["secrets"])


def shapes(headers: dict[str, str]) -> list[Any]:
    """Returns the headers in the formats of frameworks: a mapping, pairs, ASGI's bytes, WSGI's environment, lists."""
    asgi = [(name.lower().encode(), value.encode("utf-8", "replace")) for name, value in headers.items()]
    wsgi = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()} | {
        "wsgi.version": (1, 0)
    }
    return [headers, list(headers.items()), asgi, wsgi, {name: [value] for name, value in headers.items()}]


@pytest.mark.parametrize("case", EVENTS["endpoint"], ids=lambda case: case["name"])
def test_endpoint_passes_the_vectors(case: dict[str, Any]) -> None:
    acted: list[Event] = []

    def on_event(event: Event) -> None:
        acted.append(event)
        if step.get("fails"):
            raise RuntimeError("the database is away")

    login: Login[None] = Login(
        Signpost("svc_test_key"),
        domain="localhost",
        site="http://localhost:9000",
        cookie_secret="a secret for tests, of 40 characters....",
        sign_in=lambda login, request: None,
        webhook_secrets=case["secrets"],
        on_event=on_event,
    )
    login.now = lambda: case["now"]
    for step in case["steps"]:
        acted.clear()
        body = step["body"] * step.get("times", 1)
        answer = login.handle(Incoming("POST", "/signpost/events", headers=step["headers"], body=body.encode()), None)
        assert answer is not None and answer.status == step["status"], answer
        content = json.loads(answer.body)
        assert len(acted) == step["acts"]
        assert content == {"status": step["says"]} if "says" in step else content["error"]


def is_within(part: Any, whole: Any) -> bool:
    """Returns whether `whole` contains all of `part`, with equal values."""
    if not isinstance(part, dict):
        return bool(part == whole)
    return all(name in whole and is_within(value, whole[name]) for name, value in part.items())


def test_signatures_match_the_vectors() -> None:
    for case in SIGNATURES["made"]:
        displayed, decoded = secret_keys(case["secret"])
        body = case["body"].encode()
        assert hmac.new(displayed, body, hashlib.sha256).hexdigest() == case["x_svc_signature"]
        content = f"{case['id']}.{case['timestamp']}.".encode() + body
        mac = base64.b64encode(hmac.new(decoded, content, hashlib.sha256).digest()).decode()
        assert f"v1,{mac}" == case["webhook_signature"]


@pytest.mark.parametrize("case", SIGNATURES["x_svc_signature"], ids=lambda case: case["name"])
def test_plain_signature_passes_the_vectors(case: dict[str, Any]) -> None:
    assert is_authentic(case["body"], {"X-Svc-Signature": case["header"]}, case["secret"], 0) == case["valid"]


@pytest.mark.parametrize("case", SIGNATURES["webhook_signature"], ids=lambda case: case["name"])
def test_standard_signature_passes_the_vectors(case: dict[str, Any]) -> None:
    displayed, _ = secret_keys(case["secret"])
    headers = {
        "X-Svc-Signature": hmac.new(displayed, case["body"].encode(), hashlib.sha256).hexdigest(),
        "webhook-id": case["id"],
        "webhook-timestamp": str(case["timestamp"]),
        "webhook-signature": case["header"],
    }
    assert is_authentic(case["body"], headers, case["secret"], case["timestamp"]) == case["valid"]


def is_authentic(body: str, headers: dict[str, str], secret: str, now: float) -> bool:
    try:
        verify(body, headers, secret, now=now)
    except SignpostError as error:
        assert error.code in ("invalid_signature", "invalid_event")
        return error.code == "invalid_event"
    return True
