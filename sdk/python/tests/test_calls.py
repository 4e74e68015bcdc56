"""Each operation of openapi.yaml has a method."""

import itertools
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from signpost_sdk import HttpReply, HttpRequest, Signpost, errors

from .conftest import Server
from .vectors import ROOT

D, S, U = "{id}", "{id}", "{user}"
CALLS: dict[str, Callable[[Signpost], Any]] = {
    "listSessions": lambda it: it.sessions.list(),
    "createSession": lambda it: it.sessions.create(domain="a"),
    "getSession": lambda it: it.sessions.get(S),
    "cancelSession": lambda it: it.sessions.cancel(S),
    "drawSessionSvg": lambda it: it.sessions.qr_svg(S),
    "drawSessionPng": lambda it: it.sessions.qr_png(S),
    "refreshSession": lambda it: it.sessions.refresh(S),
    "authenticateSession": lambda it: it.sessions.authenticate(S, {}),
    "completeSession": lambda it: it.sessions.complete(S, code="c"),
    "simulateWallet": lambda it: it.sessions.simulate(S),
    "verifySignature": lambda it: it.verify(message="", signature="", public_key=""),
    "listDomains": lambda it: it.domains.list(),
    "registerDomain": lambda it: it.domains.create(domain="a", webhook_url=""),
    "getDomain": lambda it: it.domains.get(D),
    "changeDomain": lambda it: it.domains.update(D),
    "deleteDomain": lambda it: it.domains.delete(D),
    "verifyDomain": lambda it: it.domains.verify(D),
    "sendTestEvent": lambda it: it.domains.send_test_event(D),
    "listUsers": lambda it: it.users.list(D),
    "deleteUsers": lambda it: it.users.delete_all(D),
    "getUser": lambda it: it.users.get(D, U),
    "changeUser": lambda it: it.users.update(D, U),
    "deleteUser": lambda it: it.users.delete(D, U),
    "deleteCredential": lambda it: it.users.delete_credential(D, U, "{credential}"),
    "listClients": lambda it: it.clients.list(D),
    "createClient": lambda it: it.clients.create(D, redirect_uris=[]),
    "getClient": lambda it: it.clients.get(D, "{client}"),
    "changeClient": lambda it: it.clients.update(D, "{client}"),
    "deleteClient": lambda it: it.clients.delete(D, "{client}"),
    "rotateClientSecret": lambda it: it.clients.rotate_secret(D, "{client}"),
    "listDeliveries": lambda it: it.deliveries.list(),
    "retryDeliveries": lambda it: it.deliveries.retry_all(),
    "getDelivery": lambda it: it.deliveries.get("{id}"),
    "retryDelivery": lambda it: it.deliveries.retry("{id}"),
    "reportMachines": lambda it: it.atms.submit([]),
    "reportAtm": lambda it: it.atms.report("{id}", "gone"),  # type: ignore[arg-type]
}
LATER: dict[str, Callable[[Signpost], Any]] = {
    "POST /domains/{}/users": lambda it: it.users.create(D, external_id="7"),
    "GET /domains/{}/users/{}/sign-ins": lambda it: it.users.sign_ins(D, U),
    "DELETE /domains/{}/users/{}/sign-ins": lambda it: it.users.end_sign_ins(D, U),
    "DELETE /domains/{}/users/{}/sign-ins/{}": lambda it: it.users.end_sign_in(D, U, "{sign_in}"),
}
OTHERS = {
    # `sessions.follow` returns the states by long polling, because transports have no streams.
    "followSession",
    # For the command line, wallets and readers of the documentation.
    "getAccount", "listSignedEvents",
    "showLogin", "hostLogin", "showRegister", "hostRegister", "showLink", "hostLink", "getDocument", "getReference",
}  # fmt: skip


def sent_by(call: Callable[[Signpost], Any]) -> HttpRequest:
    """Returns the request that the call sends."""
    sent: list[HttpRequest] = []

    def send(request: HttpRequest) -> HttpReply:
        sent.append(request)
        return HttpReply(404, {}, b'{"error": {"code": "not_found", "message": "no"}}')

    with pytest.raises(errors.NotFoundError):
        call(Signpost("key", base_url="https://login.example/v1", transport=send))
    return sent[0]


def target(request: HttpRequest) -> str:
    return without_names(f"{request.method} {unquote(urlsplit(request.url).path).removeprefix('/v1')}")


def without_names(place: str) -> str:
    """Returns the path without the names of its parameters."""
    return re.sub(r"\{[a-z_]*\}", "{}", place)


def test_each_operation_has_a_method() -> None:
    document = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    operations = {
        operation["operationId"]: without_names(f"{method.upper()} {path}")
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, dict) and "operationId" in operation
    }
    later = {name for name, place in operations.items() if place in LATER}
    assert operations.keys() - later == CALLS.keys() | OTHERS
    assert {name: target(sent_by(call)) for name, call in CALLS.items()} == {
        name: place for name, place in operations.items() if name in CALLS
    }
    assert [target(sent_by(call)) for call in LATER.values()] == [*LATER]


def test_report_is_sent_without_the_key_unless_by_the_operator() -> None:
    assert "Authorization" not in sent_by(lambda it: it.atms.report(7, "gone")).headers
    own = sent_by(lambda it: it.atms.report(7, "other", text="closed", as_operator=True))
    assert own.headers["Authorization"] == "Bearer key" and own.body == b'{"seen": "other", "text": "closed"}'


def test_user_is_created_once() -> None:
    keys: list[str] = []

    def send(request: HttpRequest) -> HttpReply:
        keys.append(request.headers["Idempotency-Key"])
        raise ConnectionError("cut")

    client = Signpost("key", transport=send)
    client.core.sleep = lambda seconds: None
    for _ in range(2):
        with pytest.raises(errors.ConnectionFailedError):
            client.users.create("dom_1", name="Ada", groups=["staff"], metadata={"a": 1})
    assert [len([*same]) for _, same in itertools.groupby(keys)] == [3, 3]


def test_session_is_followed_until_it_is_final(server: Server) -> None:
    with server.client("follow") as signpost:
        signpost.domains.create(domain="localhost", webhook_url="http://localhost:9/wallet")
        domain = signpost.domains.list().domains[0]
        signpost.domains.update(domain.id, handler="hosted")
        session, states = signpost.sessions.create(domain="localhost", mode="register"), list[str]()
        for state in signpost.sessions.follow(session.id):
            states.append(state.status)
            if state.status == "pending":
                signpost.sessions.simulate(session.id)
        assert states == ["pending", "authenticated"]
        cancelled = signpost.sessions.create(domain="localhost")
        signpost.sessions.cancel(cancelled.id)
        assert [state.status for state in signpost.sessions.follow(cancelled.id)] == ["cancelled"]
        with pytest.raises(errors.SessionNotFoundError):
            next(signpost.sessions.follow("sess_x"))


def test_client_lifecycle(server: Server) -> None:
    with server.client("oidc") as signpost:
        domain = signpost.domains.create(domain="localhost", webhook_url="http://localhost:9/wallet")
        signpost.domains.update(domain.id, handler="hosted")
        made = signpost.clients.create(domain.id, name="Wiki", redirect_uris=["http://localhost:9002/callback"])
        assert made.client_secret and made.client_secret not in repr(made)
        changed = signpost.clients.update(domain.id, made.client_id, name="Notes", allow=["group:staff"])
        assert changed.name == "Notes" and signpost.clients.get(domain.id, made.client_id) == changed
        rotated = signpost.clients.rotate_secret(domain.id, made.client_id, now=True)
        assert rotated.client_secret and rotated.client_secret != made.client_secret
        assert [client.client_id for client in signpost.clients.all(domain.id)] == [made.client_id]
        signpost.clients.delete(domain.id, made.client_id)
        with pytest.raises(errors.ClientNotFoundError):
            signpost.clients.get(domain.id, made.client_id)
        session = signpost.sessions.create(domain="localhost")
        assert signpost.sessions.qr_png(session.id).startswith(b"\x89PNG")
