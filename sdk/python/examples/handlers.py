"""A FastAPI site that receives wallets' answers and stores its users. `API=… KEY=… python handlers.py`"""

import os
import secrets
from collections.abc import Mapping
from html import escape

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from signpost_sdk import DEFAULT_BASE_URL, AsyncSignpost
from signpost_sdk.fastapi import router
from signpost_sdk.wallet import LoggedIn, WalletLogin

PORT = int(os.environ.get("PORT", "9001"))
users: dict[str, str] = {}  # by public key; a real site uses its database
people: dict[str, str] = {}  # users by cookie
ASK = "const {redirect} = await (await fetch('/signpost/poll?sid=' + code.dataset.sid)).json()"
POLL = f"<script>setInterval(async () => {{ {ASK}; if (redirect) location = redirect }}, 1000)</script>"


async def create_user(public_key: str, device_info: Mapping[str, object]) -> str:
    return users.setdefault(public_key, f"user {len(users) + 1}")


async def sign_in(login: LoggedIn[str], request: Request) -> list[str]:
    people[value := secrets.token_urlsafe()] = login.user  # a new value, never the value from before the login
    return [wallets.site.set_cookie("login", value, 86400)]


wallets = WalletLogin(
    AsyncSignpost(os.environ["KEY"], base_url=os.environ.get("API", DEFAULT_BASE_URL)),
    domain=os.environ.get("DOMAIN", "localhost"),
    site=os.environ.get("SITE", f"http://localhost:{PORT}"),
    find_user=users.get,
    create_user=create_user,
    sign_in=sign_in,
    webhook_secrets=os.environ.get("WEBHOOK_SECRET") or (),
)
app = FastAPI()
app.include_router(router(wallets))


@app.get("/")
@app.get("/register")
async def page(request: Request) -> HTMLResponse:
    code = await wallets.show_code_async("login" if request.url.path == "/" else "register", next="/account")
    link = f'<a id="link" href="{escape(code.qr_data)}">Open the wallet</a>'
    body = f'<p id="code" data-sid="{code.sid}">{link}</p><a href="/register">Register</a>{POLL}'
    return HTMLResponse(body, headers={"Set-Cookie": code.cookie, "Cache-Control": "no-store"})


@app.get("/account")
async def account(request: Request) -> HTMLResponse:
    login = wallets.site.read_cookie(request.headers.get("cookie"), "login") or ""
    return HTMLResponse(f'<b id="user">{people.get(login, "nobody")}</b>')


uvicorn.run(app, host="localhost", port=PORT, log_level="warning")
