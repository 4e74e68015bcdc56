"""A login on the service's page, and its return: vectors/return.json."""

import asyncio
import json
from typing import Any

import pytest

from signpost_sdk import AsyncSignpost, HttpReply, HttpRequest, Signpost, SignpostError
from signpost_sdk.login import Answer, HandlerStep, Incoming, LoggedIn, Login, LoginUser

from .vectors import read

VECTORS = read("return.json")
REQUEST = object()


class Service:
    """Sends the case's reply, and records the requests."""

    def __init__(self, status: int, content: Any) -> None:
        self.reply = HttpReply(status, {}, json.dumps(content).encode())
        self.asked: list[tuple[str, str, Any]] = []
        self.errors: list[dict[str, Any]] = []

    def __call__(self, request: HttpRequest) -> HttpReply:
        body = None if request.body is None else json.loads(request.body)
        self.asked.append((request.method, request.url.removeprefix("https://login.example/v1"), body))
        return self.reply

    def on_error(self, error: Exception, step: HandlerStep) -> None:
        assert isinstance(error, SignpostError)
        status = {"status": error.status} if step == "return" else {}
        self.errors.append({"code": error.code, **status, "step": step})

    async def call(self, request: HttpRequest) -> HttpReply:
        return self(request)


def make(case: dict[str, Any], service: Service, signed_in: list[LoggedIn[LoginUser]], is_async: bool) -> Login[object]:
    def sign_in(login: LoggedIn[LoginUser], request: object) -> None:
        assert request is REQUEST
        signed_in.append(login)

    async def sign_in_async(login: LoggedIn[LoginUser], request: object) -> None:
        sign_in(login, request)

    base_url = "https://login.example/v1"
    client: Signpost | AsyncSignpost = Signpost("key", base_url=base_url, transport=service)
    if is_async:
        client = AsyncSignpost("key", base_url=base_url, transport=service.call)
    login = Login(
        client,
        domain=case["domain"],
        site=case["site"],
        path=case["path"],
        failed_path=case.get("failed_path", "/"),
        cookie_secret=VECTORS["cookie_secret"],
        sign_in=sign_in_async if is_async else sign_in,
        current_user=lambda request: case.get("current_user"),
        on_error=service.on_error,
        startup_check=False,
    )
    login.now = lambda: case["now"]
    login.random = lambda size: bytes.fromhex(case["random"])[:size]
    return login


def handle(login: Login[object], incoming: Incoming, is_async: bool) -> Answer:
    answer = asyncio.run(login.handle_async(incoming, REQUEST)) if is_async else login.handle(incoming, REQUEST)
    assert answer is not None
    return answer


def check(answer: Answer, expected: dict[str, Any], service: Service) -> None:
    assert service.errors == ([expected["error"]] if "error" in expected else [])
    assert answer.status == expected["status"]
    headers = [(name.lower(), value) for name, value in answer.headers]
    assert ("location", expected["location"]) in headers and ("cache-control", "no-store") in headers
    assert [value for name, value in headers if name == "set-cookie"] == expected["set_cookie"]


def get(case: dict[str, Any], name: str) -> Incoming:
    return Incoming(
        "GET", f"{case['path']}/{name}", case["query"], {"Cookie": case["cookies"]} if case["cookies"] else {}
    )


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("case", VECTORS["starts"], ids=lambda case: case["name"])
def test_start_passes_the_vectors(case: dict[str, Any], is_async: bool) -> None:
    created = {"challenge": "svc:", "qr_data": "svc://auth", "expires_at": "", "status": "pending", "created_at": ""}
    service = Service(201, created | case["created"])
    login = make(case, service, [], is_async)
    check(handle(login, get(case, case["mode"]), is_async), case["expect"], service)
    assert service.asked == [("POST", "/sessions", case["session"])]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("case", VECTORS["returns"], ids=lambda case: case["name"])
def test_return_passes_the_vectors(case: dict[str, Any], is_async: bool) -> None:
    service, signed_in = Service(**_reply(case)), list[LoggedIn[LoginUser]]()
    login = make(case, service, signed_in, is_async)
    check(handle(login, get(case, "return"), is_async), case["expect"], service)
    asked = []
    if completes := dict(case.get("completes", {})):
        asked = [("POST", f"/sessions/{completes.pop('id')}/complete", completes)]
    assert service.asked == asked
    named = [
        {"user": login.user.id, "mode": login.mode, "next": login.next, "method": login.method} for login in signed_in
    ]
    assert named == ([case["signs_in"]] if "signs_in" in case else [])


def _reply(case: dict[str, Any]) -> dict[str, Any]:
    reply = case.get("reply", {"status": 500, "json": {}})
    return {"status": reply["status"], "content": reply["json"]}


@pytest.mark.parametrize("case", VECTORS["refused_options"], ids=lambda case: case["name"])
def test_invalid_options_are_rejected(case: dict[str, Any]) -> None:
    options = {"cookie_secret": VECTORS["cookie_secret"], "site": "https://shop.example", "domain": "shop.example"}
    Login[None](Signpost("key"), sign_in=lambda login, request: None, startup_check=False, **options)
    with pytest.raises(SignpostError) as caught:
        wrong = options | {name: value for name, value in case.items() if name != "name"}
        Login[None](Signpost("key"), sign_in=lambda login, request: None, startup_check=False, **wrong)
    assert caught.value.code == "invalid_argument"
    assert VECTORS["cookie_secret"] not in str(caught.value)


@pytest.mark.parametrize("path", ["/login#top", "#", "//evil", "login"])
def test_failed_path_rejects_fragments(path: str) -> None:
    options = {"cookie_secret": VECTORS["cookie_secret"], "site": "https://shop.example", "domain": "shop.example"}
    with pytest.raises(SignpostError) as caught:
        Login[None](
            Signpost("key"), sign_in=lambda login, request: None, failed_path=path, startup_check=False, **options
        )
    assert caught.value.code == "invalid_argument"
