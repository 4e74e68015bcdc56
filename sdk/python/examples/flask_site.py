"""A Flask site with Signpost's login page. `API=… KEY=… python flask_site.py`"""

import os
import secrets

from flask import Flask, Request, Response, session

from signpost_sdk import DEFAULT_BASE_URL, Event, Signpost
from signpost_sdk.flask import blueprint
from signpost_sdk.login import LoggedIn, Login, LoginUser

PORT = int(os.environ.get("PORT", "9001"))
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
IS_SECURE = SITE.startswith("https:")
COOKIE_SECRET = os.environ.get("COOKIE_SECRET") or secrets.token_urlsafe()


def sign_in(login: LoggedIn[LoginUser], request: Request) -> None:
    session.clear()  # drop all data from before the login
    session["user"] = login.user.id


def current_user(request: Request) -> str | None:
    return session.get("user")


def on_event(event: Event) -> None:
    print(f"{event.event} {event.session_id}", flush=True)


client = Signpost(os.environ["KEY"], base_url=os.environ.get("API", DEFAULT_BASE_URL))
login = Login(
    client,
    domain=os.environ.get("DOMAIN", "localhost"),
    site=SITE,
    cookie_secret=COOKIE_SECRET,
    sign_in=sign_in,
    current_user=current_user,
    webhook_secrets=os.environ.get("WEBHOOK_SECRET") or (),
    on_event=on_event,
)
app = Flask(__name__)
app.secret_key = COOKIE_SECRET
app.config.update(
    SESSION_COOKIE_NAME="__Host-session" if IS_SECURE else "session",  # no other host can set a __Host- cookie
    SESSION_COOKIE_SECURE=IS_SECURE,
    SESSION_COOKIE_SAMESITE="Lax",
)
app.register_blueprint(blueprint(login))


@app.get("/")
def home() -> Response:
    user = session.get("user")
    text = f'You are <b id="user">{user}</b>.' if user else '<a href="/signpost/login">Log in</a>'
    return Response(f"<!doctype html><title>Flask</title>{text}", headers={"Cache-Control": "no-store"})


if __name__ == "__main__":
    app.run(host="localhost", port=PORT)
