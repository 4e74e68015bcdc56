"""The clients against the built server."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from typing import Any

import pytest
from standardwebhooks import Webhook

from signpost_sdk import AsyncSignpost, Signpost, SignpostError, __version__
from signpost_sdk.webhooks import verify

from .conftest import Server
from .vectors import read


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Signpost]:
    with server.client("client") as client:
        yield client


def test_session_lifecycle(client: Signpost) -> None:
    client.domains.create(domain="shop.example", webhook_url="https://shop.example/webhooks/login")
    made = client.sessions.create(domain="shop.example", metadata={"return_url": "/account"})
    assert made.status == "pending" and made.metadata == {"return_url": "/account"}
    assert made.client_secret and made.client_secret not in repr(made)
    assert client.sessions.get(made.id).status == "pending"
    assert client.sessions.wait(made.id, timeout=0).status == "pending"
    assert client.sessions.refresh(made.id).challenge != made.challenge
    assert client.sessions.qr_svg(made.id).startswith("<svg")
    assert [session.id for session in client.sessions.all(domain="shop.example")] == [made.id]
    client.sessions.cancel(made.id)
    assert client.sessions.wait(made.id).status == "cancelled"
    with pytest.raises(SignpostError) as caught:
        client.sessions.get(made.id)
    assert caught.value.code == "session_cancelled" and caught.value.status == 410
    assert caught.value.request_id and caught.value.request_id in str(caught.value)


def test_idempotency_key_creates_one_session(client: Signpost) -> None:
    client.domains.create(domain="once.example", webhook_url="https://once.example/webhooks/login")
    made = {client.sessions.create(domain="once.example", idempotency_key="order-7").id for _ in range(3)}
    assert len(made) == 1
    with pytest.raises(SignpostError, match=r"(?i)key") as caught:
        client.sessions.create(domain="once.example", mode="register", idempotency_key="order-7")
    assert caught.value.code == "idempotency_key_reused"


def test_hosted_domain_has_users(server: Server, client: Signpost) -> None:
    made = client.domains.create(domain="localhost", webhook_url="http://localhost:9/webhooks/login")
    assert made.webhook_secret.startswith("whsec_") and made.webhook_secret not in repr(made)
    domain = client.domains.update(
        made.id, handler="hosted", event_url="http://localhost:9/events", display_name="Shop"
    )
    assert (domain.handler, domain.display_name, domain.event_url) == ("hosted", "Shop", "http://localhost:9/events")
    domain = client.domains.update(made.id, display_name=None, event_url=None, methods=["scan"])
    assert (domain.display_name, domain.event_url, domain.methods) == (None, None, ("scan",))
    session = client.sessions.create(domain="localhost", mode="register")
    played = client.sessions.simulate(session.id)
    assert played.status == 200, played
    done = client.sessions.wait(session.id)
    assert done.status == "authenticated" and done.user and done.user.id and done.method == "scan"
    user = client.users.get(made.id, done.user.id)
    assert [key.kind for key in user.credentials] == ["wallet"] and user.public_key == done.user.public_key
    user = client.users.update(made.id, user.id, name="Ada", groups=["staff"])
    assert (user.name, user.groups) == ("Ada", ("staff",))
    assert client.users.update(made.id, user.id, name=None).name is None
    assert [item.id for item in client.users.all(made.id)] == [user.id]
    with pytest.raises(SignpostError) as caught:
        client.users.delete_credential(made.id, user.id, user.credentials[0].id)
    assert caught.value.code == "last_credential"
    client.users.delete(made.id, user.id)
    client.users.delete_all(made.id)
    client.domains.delete(made.id)
    with pytest.raises(SignpostError) as caught:
        client.domains.get(made.id)
    assert caught.value.code == "domain_not_found"


def test_event_is_verified_by_both_libraries(client: Signpost) -> None:
    posts: list[tuple[dict[str, str], bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posts.append(
                (
                    {name.lower(): value for name, value in self.headers.items()},
                    self.rfile.read(int(self.headers["Content-Length"])),
                )
            )
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("localhost", 0), Receiver) as receiver:
        webhook_url = f"http://localhost:{receiver.server_port}/events"
        domain = client.domains.create(domain="events.example", webhook_url=webhook_url)
        delivery = client.domains.send_test_event(domain.id)
        thread = threading.Thread(target=receiver.handle_request)
        thread.start()
        thread.join(timeout=20)
    [(headers, body)] = posts
    event = verify(body, headers, domain.webhook_secret)
    assert (event.event, event.id, event.data) == ("test", delivery.id, None)
    assert client.webhooks.verify(body, headers, domain.webhook_secret) == event
    assert Webhook(domain.webhook_secret).verify(body, headers) == event.raw
    for change in ({"x-svc-signature": "0" * 64}, {"webhook-id": "evt_other"}):
        with pytest.raises(SignpostError):
            verify(body, headers | change, domain.webhook_secret)
    assert client.deliveries.get(delivery.id).body == event
    assert client.deliveries.retry(delivery.id).id == delivery.id
    assert client.deliveries.retry_all().retried == 0
    assert delivery.id in [item.id for item in client.deliveries.all()]


def test_missing_proof_lists_the_lookups(client: Signpost) -> None:
    domain = client.domains.create(domain="unproved.invalid", webhook_url="https://unproved.invalid/webhooks/login")
    with pytest.raises(SignpostError) as caught:
        client.domains.verify(domain.id)
    assert caught.value.code == "domain_verification_failed" and caught.value.details["checks"]


def test_all_returns_every_page(client: Signpost) -> None:
    names = {domain.domain for domain in client.domains.all()}
    page = client.domains.list(limit=1)
    assert page.next_cursor and len(page.domains) == 1 and len(names) > 2
    second = client.domains.list(limit=1, cursor=page.next_cursor)
    assert second.domains != page.domains


def test_verify_matches_the_signature_vectors(client: Signpost) -> None:
    for case in read("signature.json")["verified"]:
        judged = client.verify(message=case["message"], signature=case["signature"], public_key=case["public_key"])
        assert judged.valid == case["valid"], case["name"]
    for case in read("lnurl.json")["signed"]:
        judged = client.verify(message=case["challenge"], signature=case["signature"], public_key=case["public_key"])
        assert judged.valid, case


def test_malformed_signature_is_an_error(client: Signpost) -> None:
    with pytest.raises(SignpostError) as caught:
        client.verify(message="", signature="zz", public_key="02" + "00" * 32)
    assert caught.value.status == 400


def test_atms_are_found(client: Signpost) -> None:
    found = client.atms.nearest("Miami, FL", limit=2, units="km")
    assert len(found.atms) == 2 and found.resolved_location and found.resolved_location.region == "Florida"
    assert found.atms[0].distance_meters <= found.atms[1].distance_meters and found.advisories[0].source_url
    assert client.atms.nearest(lat=25.77, lon=-80.19, open_now=True).total > 0
    details = client.atms.get(found.atms[0].id)
    assert details.name == found.atms[0].name and details.sources[0].name == "sample"
    status = client.atms.status("Miami, FL", radius=5)
    assert sum(status.counts.values()) == status.total and status.as_of
    assert client.atms.list_by_city(city="Miami", state="FL").atms
    assert client.atms.mcp_url.endswith("/mcp")
    for call, code in (
        (lambda: client.atms.get(99999999), "tool_error"),
        (lambda: client.atms.nearest(" "), "mcp_error"),
    ):
        with pytest.raises(SignpostError) as caught:
            call()
        assert caught.value.code == code


def test_concurrent_calls_share_a_loop(server: Server) -> None:
    async def ask() -> list[str]:
        async with AsyncSignpost(server.make_key("loop"), base_url=server.base_url) as client:
            await client.domains.create(domain="loop.example", webhook_url="https://loop.example/webhooks/login")
            made = await asyncio.gather(*(client.sessions.create(domain="loop.example") for _ in range(40)))
            # More waits than threads of a default pool: they must not delay the others.
            waits = asyncio.gather(*(client.sessions.wait(session.id, timeout=20) for session in made[:20]))
            await asyncio.gather(*(client.sessions.cancel(session.id) for session in made[:20]))
            ended = await waits
            assert {session.status for session in ended} == {"cancelled"}
            return [session.id async for session in client.sessions.all(status="pending", domain="loop.example")]

    assert len(asyncio.run(ask())) == 20


def test_version_matches_the_package() -> None:
    assert version("signpost-sdk") == __version__
