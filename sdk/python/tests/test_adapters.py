"""Differences between the frameworks: their bodies, their cookies, their CSRF protection, their event loops."""

import asyncio
import hashlib
import hmac
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import django
import flask
import httpx2
import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import AsyncRequestFactory, RequestFactory
from fastapi import FastAPI, Request, Response

import signpost_sdk.django
import signpost_sdk.fastapi
import signpost_sdk.flask
from signpost_sdk import AsyncSignpost, Event, HttpReply, HttpRequest, Signpost, SignpostError
from signpost_sdk.login import Incoming, LoggedIn, Login, LoginUser

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
BODY = b'{"event":"later","timestamp":"2023-11-14T22:13:20Z","session_id":"sess_1","data":{}}'
SIGNED = {
    "X-Svc-Signature": hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest(),
    "Content-Type": "application/json",
}
SESSION = (
    b'{"id":"sess_1","status":"authenticated","user":{"id":"usr_1","public_key":"02","device_info":{}},"challenge":"",'
    b'"qr_data":"","expires_at":"","created_at":"","page_url":"https://login.example/login/sess_1"}'
)
if not settings.configured:
    settings.configure(ALLOWED_HOSTS=["*"], SECRET_KEY="for tests", ROOT_URLCONF=())
    django.setup()


def reply(request: HttpRequest) -> HttpReply:
    content = SESSION.replace(b"authenticated", b"pending") if request.url.endswith("/sessions") else SESSION
    return HttpReply(200, {}, content)


def sign_in(login: LoggedIn[LoginUser], request: Any) -> list[str]:
    return [f"login={login.user.id}; Path=/; HttpOnly", "other=1; Path=/account; Max-Age=60; SameSite=Strict"]


def make(is_async: bool = False, on_event: Callable[[Event], Any] | None = None) -> Login[Any]:
    client: Signpost | AsyncSignpost = (
        AsyncSignpost("key", transport=reply_async) if is_async else Signpost("key", transport=reply)
    )
    secret = "a secret for tests, of 40 characters...."
    login: Login[Any] = Login(
        client,
        domain="localhost",
        site="https://shop.example",
        cookie_secret=secret,
        sign_in=sign_in,
        webhook_secrets=SECRET,
        on_event=on_event,
        startup_check=False,
    )
    return login


async def reply_async(request: HttpRequest) -> HttpReply:
    return reply(request)


def fastapi_app(login: Login[Any]) -> FastAPI:
    app = FastAPI()
    app.include_router(signpost_sdk.fastapi.router(login))
    return app


def flask_app(login: Login[Any]) -> flask.Flask:
    app = flask.Flask(__name__)
    app.testing = True
    app.register_blueprint(signpost_sdk.flask.blueprint(login))
    return app


def django_view(login: Login[Any], name: str) -> Callable[..., Any]:
    found = next(route for route in signpost_sdk.django.urls(login) if route.name == f"signpost-{name}")
    callback: Callable[..., Any] = found.callback
    return callback


async def ask(app: FastAPI, method: str, path: str, **options: Any) -> httpx2.Response:
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="https://shop.example") as client:
        return await client.request(method, path, **options)


def check_login(cookies: list[str]) -> None:
    """Checks the cookies of a return: the site's two, and the deleted state."""
    assert len(cookies) == 3
    assert any(cookie.startswith("login=usr_1;") and "HttpOnly" in cookie for cookie in cookies)
    other = next(cookie for cookie in cookies if cookie.startswith("other=1;"))
    assert "Max-Age=60" in other and "Path=/account" in other
    deleted = next(cookie for cookie in cookies if cookie.startswith("__Host-signpost-"))
    assert "Max-Age=0" in deleted and "Secure" in deleted


def state(login: Login[Any]) -> str:
    """Returns the state cookie that a start sets."""
    answer = login.handle(Incoming("GET", "/signpost/login"), None)
    assert answer
    return next(value.partition(";")[0] for name, value in answer.headers if name == "Set-Cookie")


@pytest.mark.parametrize("is_async", [False, True])
def test_fastapi_sets_all_cookies(is_async: bool) -> None:
    app, headers = fastapi_app(make(is_async)), {"Cookie": f"a=b; {state(make())}"}
    done = asyncio.run(ask(app, "GET", "/signpost/return?session_id=sess_1&code=c", headers=headers))
    assert done.status_code == 303 and done.headers["location"] == "/"
    check_login(done.headers.get_list("set-cookie"))


def test_flask_sets_all_cookies() -> None:
    login = make()
    with flask_app(login).test_client(use_cookies=False) as client:
        done = client.get("/signpost/return?session_id=sess_1&code=c", headers={"Cookie": state(login)})
    assert done.status_code == 303 and done.headers["Location"] == "/"
    check_login(done.headers.getlist("Set-Cookie"))


@pytest.mark.parametrize("is_async", [False, True])
def test_django_sets_all_cookies(is_async: bool) -> None:
    view, factory = django_view(make(is_async), "return"), AsyncRequestFactory() if is_async else RequestFactory()
    factory.cookies.load(state(make()))
    made = view(factory.get("/signpost/return", {"session_id": "sess_1", "code": "c"}))
    done = asyncio.run(made) if is_async else made
    assert done.status_code == 303 and done["Location"] == "/" and "Content-Type" not in done
    check_login([morsel.OutputString() for morsel in done.cookies.values()])


def test_django_names_an_unreadable_cookie() -> None:
    login = make()
    login._sign_in = lambda login, request: ["no cookie"]
    request = RequestFactory().get(
        "/signpost/return", {"session_id": "sess_1", "code": "c"}, headers={"cookie": state(login)}
    )
    with pytest.raises(SignpostError, match="cannot read"):
        django_view(login, "return")(request)


def test_django_exempts_only_posts_from_csrf() -> None:
    exempt = {route.name: getattr(route.callback, "csrf_exempt", False) for route in signpost_sdk.django.urls(make())}
    assert [name for name, is_exempt in exempt.items() if is_exempt] == ["signpost-events"]


def test_consumed_body_is_an_error_with_a_remedy() -> None:
    app = fastapi_app(make())

    @app.middleware("http")
    async def read_it(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        async for _ in request.stream():
            pass
        return await call_next(request)

    with pytest.raises(SignpostError, match=r"await request\.body\(\)") as caught:
        asyncio.run(ask(app, "POST", "/signpost/events", content=BODY, headers=SIGNED))
    assert caught.value.code == "parsed_body"

    site = flask_app(make())
    site.before_request(lambda: flask.request.stream.read() and None)
    with pytest.raises(SignpostError, match="get_data") as caught, site.test_client() as client:
        client.post("/signpost/events", data=BODY, headers=SIGNED)
    assert caught.value.code == "parsed_body"

    request = RequestFactory().post("/signpost/events", BODY, "application/json", headers=SIGNED)
    request.read(1)
    with pytest.raises(SignpostError, match=r"request\.body") as caught:
        django_view(make(), "events")(request)
    assert caught.value.code == "parsed_body"


def test_cached_body_is_accepted() -> None:
    app = fastapi_app(make())

    @app.middleware("http")
    async def read_it(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        assert await request.body() == BODY
        return await call_next(request)

    done = asyncio.run(ask(app, "POST", "/signpost/events", content=BODY, headers=SIGNED))
    assert done.json() == {"status": "received"}
    site = flask_app(make())
    site.before_request(lambda: flask.request.get_json() and None)
    with site.test_client() as client:
        assert client.post("/signpost/events", data=BODY, headers=SIGNED).get_json() == {"status": "received"}
    request = RequestFactory().post("/signpost/events", BODY, "application/json", headers=SIGNED)
    assert request.body and not request.POST
    assert django_view(make(), "events")(request).status_code == 200


def test_long_body_is_rejected_in_all_frameworks() -> None:
    body = b" " * 65537
    assert asyncio.run(ask(fastapi_app(make()), "POST", "/signpost/events", content=body)).status_code == 413

    async def chunks() -> Any:
        for _ in range(17):
            yield b" " * 4096

    refused = asyncio.run(ask(fastapi_app(make()), "POST", "/signpost/events", content=chunks()))
    assert refused.status_code == 413 and refused.headers["connection"] == "close"
    with flask_app(make()).test_client() as client:
        assert client.post("/signpost/events", data=body).status_code == 413
    request = RequestFactory().post("/signpost/events", body, "application/json")
    assert django_view(make(), "events")(request).status_code == 413


def test_blocking_function_does_not_block_the_loop() -> None:
    entered, released = threading.Event(), threading.Event()

    def on_event(event: Event) -> None:
        entered.set()
        assert released.wait(timeout=20), "the loop stood still"

    async def release() -> None:
        await asyncio.to_thread(entered.wait, 20)
        released.set()

    async def on_fastapi() -> int:
        app = fastapi_app(make(is_async=True, on_event=on_event))
        done, _ = await asyncio.gather(ask(app, "POST", "/signpost/events", content=BODY, headers=SIGNED), release())
        return done.status_code

    async def on_django() -> int:
        view = django_view(make(is_async=True, on_event=on_event), "events")
        request = AsyncRequestFactory().post("/signpost/events", BODY, "application/json", headers=SIGNED)
        done, _ = await asyncio.gather(view(request), release())
        assert isinstance(done, HttpResponse)
        return done.status_code

    for run in (on_fastapi, on_django):
        entered.clear()
        released.clear()
        assert asyncio.run(run()) == 200


def test_async_function_is_rejected_by_blocking_client() -> None:
    async def on_event(event: Event) -> None: ...

    with flask_app(make(on_event=on_event)).test_client() as client:
        assert client.post("/signpost/events", data=BODY, headers=SIGNED).status_code == 500
    with pytest.raises(SignpostError, match="Signpost instead of AsyncSignpost"):
        signpost_sdk.flask.blueprint(make(is_async=True))


def test_async_transport_is_rejected_by_blocking_client(caplog: pytest.LogCaptureFixture) -> None:
    made = make(is_async=True).handle(Incoming("GET", "/signpost/login"), None)
    assert made and made.status == 303
    assert "the step start failed: this client has an async transport: await the handler" in caplog.text


def test_other_paths_and_methods_are_ignored() -> None:
    login = make()
    assert login.handle(Incoming("GET", "/other/login"), None) is None
    assert login.handle(Incoming("GET", "/signpost/login/more"), None) is None
    answer = login.handle(Incoming("POST", "/signpost/login"), None)
    assert answer and answer.status == 405 and ("Allow", "GET") in answer.headers
    assert signpost_sdk.django._answer(login, "other", RequestFactory().get("/signpost/other")).status_code == 404


def test_invalid_host_is_a_client_error() -> None:
    odd = {"Host": "[::1"}
    assert asyncio.run(ask(fastapi_app(make(True)), "GET", "/signpost/login?next=/a", headers=odd)).status_code == 303
    for method in ("TRACE", "PUT", "QUERY"):
        assert asyncio.run(ask(fastapi_app(make(True)), method, "/signpost/login")).status_code == 405
        with flask_app(make()).test_client() as client:
            assert client.open("/signpost/login", method=method).status_code == 405
        assert django_view(make(), "login")(RequestFactory().generic(method, "/signpost/login")).status_code == 405


def fetch(login: Login[Any], kind: str, method: str, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str]]:
    """Sends a request to a site with this framework; returns the status and the headers."""
    if kind == "fastapi":
        reply = asyncio.run(ask(fastapi_app(login), method, path, headers=headers))
        return reply.status_code, dict(reply.headers)
    if kind == "flask":
        with flask_app(login).test_client(use_cookies=False) as client:
            done = client.open(path, method=method, headers=headers, base_url="https://shop.example")
        return done.status_code, {name.lower(): value for name, value in done.headers}
    name = path.partition("?")[0].removeprefix("/signpost/")
    sent = {"Host": "shop.example"} | headers
    request = RequestFactory(enforce_csrf_checks=True).generic(method, path, headers=sent)
    made = django_view(login, name)(request)
    return made.status_code, {key.lower(): value for key, value in made.items()}


@pytest.mark.parametrize("kind", ["fastapi", "flask", "django"])
def test_frameworks_return_equal_responses(kind: str) -> None:
    signs_out: list[int] = []
    login = make()
    login._sign_out = lambda request: signs_out.append(1)
    for name in ("login", "register", "link", "logout"):
        status, headers = fetch(login, kind, "GET", f"/signpost/{name}", {"Sec-Purpose": "prefetch"})
        assert (status, headers["cache-control"]) == (204, "no-store") and signs_out == []
        assert "content-type" not in headers
    assert fetch(login, kind, "GET", "/signpost/link", {})[0] == 404, "the site has no current_user"
    status, headers = fetch(login, kind, "GET", "/signpost/login?next=/a", {"Host": "www.shop.example"})
    assert (status, headers["location"]) == (303, "https://shop.example/signpost/login?next=%2Fa&signpost_host=1")
    status, headers = fetch(login, kind, "GET", "/signpost/login?signpost_host=1", {"Host": "127.0.0.1:9001"})
    assert (status, headers["location"]) == (303, "https://login.example/login/sess_1")
    assert fetch(login, kind, "HEAD", "/signpost/link", {})[0] == 405
    assert fetch(login, kind, "DELETE", "/signpost/logout", {})[0] == 405
    for method in ("GET", "POST"):
        status, headers = fetch(login, kind, method, "/signpost/logout?next=/bye", {})
        assert (status, headers["location"]) == (303, "/bye")
    assert fetch(login, kind, "POST", "/signpost/logout", {"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert len(signs_out) == 2
    take_down(login)
    assert fetch(login, kind, "GET", "/signpost/login", {})[1]["location"] == "/?login_error=unavailable"
    status, headers = fetch(login, kind, "GET", "/signpost/login", {"Cookie": "__Host-signpost-unavailable=1"})
    assert (status, headers["retry-after"]) == (503, "10") and headers["content-type"].startswith("text/plain")


def take_down(login: Login[Any]) -> None:
    """Lets all later requests to the service fail."""

    def lose(request: HttpRequest) -> HttpReply:
        raise ConnectionError("the service is down")

    login.core.send_sync, login.core.send_async, login._sessions.core.retries = lose, None, 0


def test_own_logout_cancels_pending_logins() -> None:
    login = make()
    pending = state(login)
    name = pending.partition("=")[0]
    assert login.cancel_pending(f"a=b; {pending}") == [f"{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure"]
    assert login.cancel_pending(None) == []


def test_error_of_on_error_does_not_change_the_response(caplog: pytest.LogCaptureFixture) -> None:
    login = make()
    take_down(login)

    def fail(error: Exception, step: str) -> None:
        raise RuntimeError("the log is full")

    login._on_error = fail
    made = login.handle(Incoming("GET", "/signpost/login"), None)
    assert made and ("Location", "/?login_error=unavailable") in made.headers
    assert "on_error failed" in caplog.text


def test_errors_of_the_site_go_to_the_framework() -> None:
    login = make()

    def fail(request: Any) -> str:
        raise RuntimeError("the database is away")

    login._current_user = fail
    with pytest.raises(RuntimeError):
        login.handle(Incoming("GET", "/signpost/link"), None)


def test_event_error_goes_to_on_error() -> None:
    errors: list[tuple[str, str]] = []

    def fail(event: Event) -> None:
        raise RuntimeError("the database is away")

    login = make(on_event=fail)
    login._on_error = lambda error, step: errors.append((str(error), step))
    made = login.handle(Incoming("POST", "/signpost/events", "", SIGNED, BODY), None)
    assert made and made.status == 500 and errors == [("the database is away", "events")]
