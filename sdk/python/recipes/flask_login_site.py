"""A site with Flask-Login, and Signpost's login page."""

import os
import secrets

import flask_login
from flask import Flask, Request, Response

from signpost_sdk import DEFAULT_BASE_URL, Signpost
from signpost_sdk.flask import blueprint
from signpost_sdk.login import LoggedIn, Login, LoginUser

PORT = int(os.environ.get("PORT", "9001"))
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
IS_SECURE = SITE.startswith("https:")
COOKIE_SECRET = os.environ.get("COOKIE_SECRET") or secrets.token_urlsafe()


class User(flask_login.UserMixin):
    def __init__(self, id: str) -> None:
        self.id = id


users: dict[str, User] = {}  # your table of users, by `usr_…`
app = Flask(__name__)
app.secret_key = COOKIE_SECRET
app.config.update(
    SESSION_COOKIE_NAME="__Host-session" if IS_SECURE else "session",  # no other host can set a __Host- cookie
    SESSION_COOKIE_SECURE=IS_SECURE,
    SESSION_COOKIE_SAMESITE="Lax",
)
logins = flask_login.LoginManager(app)
logins.login_view = "signpost.login"  # login_required adds ?next=, and the login returns to that page
logins.user_loader(users.get)


def sign_in(login: LoggedIn[LoginUser], request: Request) -> None:
    flask_login.login_user(users.setdefault(login.user.id, User(login.user.id)))


handlers = Login(
    Signpost(os.environ["KEY"], base_url=os.environ.get("API", DEFAULT_BASE_URL)),
    domain=os.environ.get("DOMAIN", "localhost"),
    site=SITE,
    cookie_secret=COOKIE_SECRET,
    sign_in=sign_in,
    current_user=lambda request: flask_login.current_user.get_id(),
    webhook_secrets=os.environ.get("WEBHOOK_SECRET") or (),
)
app.register_blueprint(blueprint(handlers))


@app.get("/")
def home() -> str:
    user = flask_login.current_user.get_id()
    out = '<form method="post" action="/logout"><button>Log out</button></form>'
    return f'You are <b id="user">{user}</b>. {out}' if user else '<a href="/signpost/login">Log in</a>'


@app.get("/account")
@flask_login.login_required
def account() -> str:
    return f'The account of <b id="user">{flask_login.current_user.get_id()}</b>.'


@app.post("/logout")
def log_out() -> Response:
    flask_login.logout_user()
    return Response(status=303, headers={"Location": "/"})


if __name__ == "__main__":
    app.run(host="localhost", port=PORT)
