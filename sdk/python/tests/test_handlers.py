"""The handlers in addition to the vectors."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import flask
import pytest
from django.test import RequestFactory

import signpost_sdk.django
import signpost_sdk.flask
from signpost_sdk import Event, HttpReply, HttpRequest, Signpost
from signpost_sdk.cookies import as_location, is_web_page
from signpost_sdk.handlers import Answer, LoggedIn
from signpost_sdk.login import Incoming, Login
from signpost_sdk.wallet import WalletLogin

from . import test_adapters as adapters

NOW = 1_700_000_000
CHALLENGE = "svc:register:localhost:1700000000:AQEBAQEBAQEBAQEBAQEBAQ"
KEY = "02" + "ab" * 32
ANSWER = {"public_key": KEY, "signature": "30" * 40, "challenge": CHALLENGE, "timestamp": NOW}


def reply(request: HttpRequest) -> HttpReply:
    shown = {"id": "sess_1", "qr_data": "svc://auth", "expires_at": "2033-11-14T22:18:10Z", "challenge": CHALLENGE}
    created = shown | {"status": "pending", "created_at": ""}
    if request.url.endswith("/refresh"):
        created = shown | {"challenge": CHALLENGE.replace("AQ", "Ag")}
    return HttpReply(200, {}, json.dumps(created).encode())


class Site:
    """A site that receives wallets' answers, in memory."""

    def __init__(self, sign_in: Callable[[LoggedIn[str], Any], list[str]] = lambda login, request: ["login=1"]) -> None:
        self.users: dict[str, str] = {}
        self.handlers: WalletLogin[Any, str] = WalletLogin(
            Signpost("key", transport=reply),
            domain="localhost",
            site="http://localhost:9000",
            find_user=self.users.get,
            create_user=self.create_user,
            sign_in=sign_in,
        )
        self.handlers.now = lambda: NOW
        self.code = self.handlers.show_code("register", next="/account")
        self.cookie = self.code.cookie.partition(";")[0]

    def create_user(self, public_key: str, device_info: Mapping[str, Any]) -> str | None:
        return self.users.setdefault(public_key, "user 1")

    def answer(self) -> Answer:
        body = json.dumps(ANSWER).encode()
        return given(self.handlers.handle(Incoming("POST", "/signpost/wallet/register", "", {}, body), None))

    def poll(self) -> Answer:
        return given(self.handlers.handle(self.polled, None))

    @property
    def polled(self) -> Incoming:
        return Incoming("GET", "/signpost/poll", "sid=sess_1", {"Cookie": self.cookie})


def given(answer: Answer | None) -> Answer:
    assert answer is not None
    return answer


def test_poll_is_repeatable_after_a_failed_sign_in() -> None:
    fails = [True]

    def sign_in(login: LoggedIn[str], request: Any) -> list[str]:
        if fails.pop():
            raise RuntimeError("the database is away")
        return [f"login={login.user}"]

    site = Site(sign_in)
    assert site.answer().status == 200
    assert site.poll().status == 500
    site.handlers._find_user = fail
    assert site.poll().status == 500
    site.handlers._find_user = site.users.get
    fails.append(False)
    done = site.poll()
    assert done.status == 200 and ("Set-Cookie", "login=user 1") in done.headers
    assert not [name for name, _ in site.poll().headers if name == "Set-Cookie"]


def test_poll_is_repeatable_after_cancellation() -> None:
    async def sign_in(login: LoggedIn[str], request: Any) -> list[str]:
        calls.append(login.user)
        if len(calls) == 1:
            raise asyncio.CancelledError
        return ["login=1"]

    calls: list[str] = []
    site = Site()
    site.handlers._sign_in = sign_in
    assert site.answer().status == 200
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(site.handlers.core.run_async(site.handlers.steps(site.polled, None)))
    answer = given(asyncio.run(site.handlers.core.run_async(site.handlers.steps(site.polled, None))))
    assert ("Set-Cookie", "login=1") in answer.headers


def test_poll_rejects_a_deleted_account() -> None:
    site = Site()
    assert site.answer().status == 200
    site.users.clear()
    assert site.poll().status == 200
    assert not [name for name, _ in site.poll().headers if name == "Set-Cookie"]


def test_duplicate_cookies_do_not_block_the_poll() -> None:
    site = Site()
    name = site.cookie.partition("=")[0]
    site.cookie = f"{name}=tossed; {site.cookie}; {name}="
    assert site.answer().status == 200
    assert ("Set-Cookie", "login=1") in site.poll().headers


def fail(public_key: str) -> str | None:
    raise RuntimeError("the database is away")


def test_concurrent_registration_is_409() -> None:
    site = Site()
    site.handlers._create_user = lambda public_key, device_info: None
    assert site.answer().status == 409
    assert json.loads(site.poll().body) == {"status": "pending"}


def test_refresh_requires_the_browser_of_the_code() -> None:
    site = Site()
    for cookies in ("", "code-0=1", site.cookie[:-1]):
        assert site.handlers.refresh_code("sess_1", cookies) is None
    assert site.handlers.refresh_code("sess_2", site.cookie) is None
    assert site.handlers.refresh_code("sess_1", f"a=b; {site.cookie}")
    assert site.answer().status == 404, "the old challenge is dead"


def test_wallet_endpoint_accepts_events() -> None:
    event = Incoming("POST", "/signpost/wallet/login", "", adapters.SIGNED, adapters.BODY)
    assert given(Site().handlers.handle(event, None)).status == 404, "without secrets there are no events here"


def test_wallet_handlers_work_in_flask_and_django() -> None:
    handlers, app = Site().handlers, flask.Flask(__name__)
    app.register_blueprint(signpost_sdk.flask.blueprint(handlers))
    with app.test_client() as client:
        assert client.post("/signpost/wallet/login", json={}).status_code == 400
        assert client.post("/signpost/wallet/login", data=b" " * 65537).status_code == 413
        assert client.get("/signpost/poll?sid=sess_1").get_json() == {"status": "pending"}
    views = {route.name: route.callback for route in signpost_sdk.django.urls(handlers)}
    request = RequestFactory(enforce_csrf_checks=True).post("/signpost/wallet/login", b"{}", "application/json")
    assert views["signpost-wallet/login"](request).status_code == 400
    poll = views["signpost-poll"](RequestFactory().get("/signpost/poll", {"sid": "sess_1"}))
    assert json.loads(poll.content) == {"status": "pending"}
    exempt = [name for name, view in views.items() if getattr(view, "csrf_exempt", False)]
    assert exempt == ["signpost-wallet/login", "signpost-wallet/register", "signpost-events"]


def test_location_escapes_invalid_characters_only() -> None:
    assert as_location("/a b\"<>\\^`{|}\u00fc%20%zz?x=1&y=[~]#'") == (
        "/a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%C3%BC%20%zz?x=1&y=[~]#'"
    )
    assert is_web_page("https://login.example/login/\u00fc")
    for url in (
        "javascript:alert(1)",
        "//evil",
        "http://",
        "http://[::1/",
        "https://a/b c",
        "https://a/\n",
        "https://a/\x85",
        "",
    ):
        assert not is_web_page(url), url


def test_start_deletes_only_its_own_cookies() -> None:
    names = [f"__Host-signpost-theme{at}" for at in range(5)] + ["__Host-signpost-", "__Host-signpost-" + "A" * 16]
    cookies = "; ".join(f"{name}=v1" for name in names)
    answer = given(adapters.make().handle(Incoming("GET", "/signpost/login", "", {"Cookie": cookies}), None))
    assert len([name for name, _ in answer.headers if name == "Set-Cookie"]) == 1


@pytest.mark.parametrize(
    ("error", "reason"), [("access_denied", "access_denied"), ("expired", "expired"), ("later", "refused")]
)
def test_return_reports_errors_after_expiry(error: str, reason: str) -> None:
    request = Incoming("GET", "/signpost/return", f"session_id=sess_1&error={error}")
    answer = given(adapters.make().handle(request, None))
    assert ("Location", f"/?login_error={reason}") in answer.headers


def test_duplicate_event_is_detected_without_on_event() -> None:
    login = adapters.make()
    event = Incoming("POST", "/signpost/events", "", adapters.SIGNED, adapters.BODY)
    said = [json.loads(given(login.handle(event, None)).body)["status"] for _ in range(2)]
    assert said == ["received", "received before"]


EVENT = Incoming("POST", "/signpost/events", "", adapters.SIGNED, adapters.BODY)


def test_concurrent_delivery_is_deferred() -> None:
    acted: list[int] = []
    concurrent: list[Answer] = []

    def on_event(event: Event) -> None:
        acted.append(1)
        if len(acted) == 1:
            concurrent.append(given(login.handle(EVENT, None)))
            raise RuntimeError("the database is away")

    login = adapters.make(on_event=on_event)
    assert given(login.handle(EVENT, None)).status == 500
    assert concurrent[0].status == 503 and ("Retry-After", "5") in concurrent[0].headers
    assert json.loads(given(login.handle(EVENT, None)).body) == {"status": "received"}
    assert json.loads(given(login.handle(EVENT, None)).body) == {"status": "received before"} and len(acted) == 2


def test_cancelled_event_is_delivered_again() -> None:
    acted: list[int] = []

    async def on_event(event: Event) -> None:
        acted.append(1)
        if len(acted) == 1:
            started.set()
            await asyncio.Event().wait()

    login, started = adapters.make(is_async=True, on_event=on_event), asyncio.Event()

    async def main() -> None:
        task = asyncio.create_task(login.handle_async(EVENT, None))
        await started.wait()
        assert given(await login.handle_async(EVENT, None)).status == 503
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert json.loads(given(await login.handle_async(EVENT, None)).body) == {"status": "received"}

    asyncio.run(main())
    assert len(acted) == 2


def test_unrecorded_event_is_delivered_again() -> None:
    class Away:
        def has(self, id: str, /) -> bool:
            return False

        def add(self, id: str, /) -> None:
            raise RuntimeError("the store is away")

    login = adapters.make()
    login._seen = Away()
    assert [given(login.handle(EVENT, None)).status for _ in range(2)] == [500, 500]


@pytest.mark.parametrize(("seconds", "times"), [(2, 3), (30, 1)])
def test_login_limits_its_retry_delay(seconds: int, times: int) -> None:
    asked: list[HttpRequest] = []

    def busy(request: HttpRequest) -> HttpReply:
        asked.append(request)
        return HttpReply(503, {"retry-after": str(seconds)}, b'{"error": {"code": "unavailable", "message": "later"}}')

    client = Signpost("key", transport=busy)
    client.core.sleep = lambda seconds: None
    login = Login[None](
        client,
        domain="a",
        site="http://localhost",
        cookie_secret="a" * 32,
        sign_in=lambda login, request: None,
        startup_check=False,
    )
    assert given(login.handle(Incoming("GET", "/signpost/login"), None)).status == 303
    assert len(asked) == times
