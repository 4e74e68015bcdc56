"""The tasks of sdk/README.md, so that they are type-checked."""

import os
import secrets
from collections.abc import Mapping

from fastapi import FastAPI, Request

from signpost_sdk import Signpost, SignpostError, webhooks
from signpost_sdk.fastapi import router
from signpost_sdk.login import Login

people: dict[str, str] = {}  # users by cookie; a real site uses its database, with an expiry


def start_login(user: str) -> str:
    """Returns a new value for the site's login cookie, never the value from before the login."""
    value = secrets.token_urlsafe()
    people[value] = user
    return value


def find_login(cookies: str | None) -> str | None:
    """Returns the user of the site's cookie."""
    return people.get(logins.site.read_cookie(cookies, "login") or "")


signpost = Signpost(os.environ["KEY"], base_url="http://localhost:8080/sandbox/v1")

logins: Login[Request] = Login(
    signpost,
    domain="localhost",
    site="http://localhost:9001",
    cookie_secret=os.environ["COOKIE_SECRET"],  # 32 characters or more, identical on all servers of the site
    webhook_secrets=os.environ["WEBHOOK_SECRET"],
    sign_in=lambda login, request: [logins.site.set_cookie("login", start_login(login.user.id), 86400)],
    current_user=lambda request: find_login(request.headers.get("cookie")),
    on_event=lambda event: print(event.event, event.session_id),
)

app = FastAPI()
app.include_router(router(logins))


def has_to_add_a_key(domain_id: str, user: str) -> bool:
    has_one_key = len(signpost.users.get(domain_id, user).credentials) == 1
    return has_one_key


def receive_event(body: bytes, headers: Mapping[str, str], secrets: list[str]) -> None:
    event = webhooks.verify(body, headers, secrets)
    print(event.id)


def show_code() -> None:
    session = signpost.sessions.create(domain="localhost", confirm="code")
    print(signpost.sessions.qr_svg(session.id), session.confirm_code)
    answered = signpost.sessions.wait(session.id, timeout=120)
    if answered.status == "authenticated" and answered.user:
        print(answered.user.id)


def list_users() -> None:
    for domain in signpost.domains.all():
        for user in signpost.users.all(domain.id):
            print(domain.domain, user.petname, user.last_login_at)


def handle_errors() -> None:
    try:
        signpost.sessions.create(domain="shop.exmaple")
    except SignpostError as error:
        print(error.code, error.status, error.details, error.request_id)  # domain_not_registered 422 …


def find_atms() -> None:
    found = signpost.atms.nearest(location="Miami, FL", limit=3)
    for atm in found.atms:
        print(atm.distance, atm.name, atm.status, atm.address)
    for advisory in found.advisories or ():
        print(advisory.text)
    print(found.notice, signpost.atms.mcp_url)
