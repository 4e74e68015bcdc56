"""A FastAPI site with Signpost's login page. `API=… KEY=… python fastapi_site.py`"""

import os
import secrets

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from signpost_sdk import DEFAULT_BASE_URL, AsyncSignpost, Event
from signpost_sdk.fastapi import router
from signpost_sdk.login import LoggedIn, Login, LoginUser

PORT = int(os.environ.get("PORT", "9001"))
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
people: dict[str, str] = {}  # users by cookie; a real site uses its database, with an expiry


async def sign_in(login: LoggedIn[LoginUser], request: Request) -> list[str]:
    value = secrets.token_urlsafe()  # a new value, never the value from before the login
    people[value] = login.user.id
    return [login_page.site.set_cookie("login", value, 86400)]


def current_user(request: Request) -> str | None:
    return people.get(login_page.site.read_cookie(request.headers.get("cookie"), "login") or "")


async def on_event(event: Event) -> None:
    print(f"{event.event} {event.session_id}", flush=True)


client = AsyncSignpost(os.environ["KEY"], base_url=os.environ.get("API", DEFAULT_BASE_URL))
login_page = Login(
    client,
    domain=os.environ.get("DOMAIN", "localhost"),
    site=SITE,
    cookie_secret=os.environ.get("COOKIE_SECRET") or secrets.token_urlsafe(),
    sign_in=sign_in,
    current_user=current_user,
    webhook_secrets=os.environ.get("WEBHOOK_SECRET") or (),
    on_event=on_event,
)
app = FastAPI()
app.include_router(router(login_page))


@app.get("/")
async def home(request: Request) -> HTMLResponse:
    user = current_user(request)
    text = f'You are <b id="user">{user}</b>.' if user else '<a href="/signpost/login">Log in</a>'
    return HTMLResponse(f"<!doctype html><title>FastAPI</title>{text}", headers={"Cache-Control": "no-store"})


uvicorn.run(app, host="localhost", port=PORT, log_level="warning")
