"""A single-file Django site with Signpost's login page. `API=… KEY=… python django_site.py`"""

import os
import secrets

from django.conf import settings
from django.core.management import execute_from_command_line
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

PORT = int(os.environ.get("PORT", "9001"))
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
IS_SECURE = SITE.startswith("https:")
COOKIE_SECRET = os.environ.get("COOKIE_SECRET") or secrets.token_urlsafe()
settings.configure(
    ALLOWED_HOSTS=["localhost", SITE.split("/")[2].split(":")[0]],
    SECRET_KEY=COOKIE_SECRET,
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware"],
    SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies",
    SESSION_COOKIE_NAME="__Host-sessionid" if IS_SECURE else "sessionid",  # no other host can set a __Host- cookie
    SESSION_COOKIE_SECURE=IS_SECURE,
)

from signpost_sdk import DEFAULT_BASE_URL, Event, Signpost  # noqa: E402
from signpost_sdk.django import urls  # noqa: E402
from signpost_sdk.login import LoggedIn, Login, LoginUser  # noqa: E402


def sign_in(login: LoggedIn[LoginUser], request: HttpRequest) -> None:
    request.session.flush()  # drop all data from before the login
    request.session["user"] = login.user.id


def on_event(event: Event) -> None:
    print(f"{event.event} {event.session_id}", flush=True)


def home(request: HttpRequest) -> HttpResponse:
    user = request.session.get("user")
    text = f'You are <b id="user">{user}</b>.' if user else '<a href="/signpost/login">Log in</a>'
    return HttpResponse(f"<!doctype html><title>Django</title>{text}", headers={"Cache-Control": "no-store"})


login = Login(
    Signpost(os.environ["KEY"], base_url=os.environ.get("API", DEFAULT_BASE_URL)),
    domain=os.environ.get("DOMAIN", "localhost"),
    site=SITE,
    cookie_secret=COOKIE_SECRET,
    sign_in=sign_in,
    current_user=lambda request: request.session.get("user"),
    webhook_secrets=os.environ.get("WEBHOOK_SECRET") or (),
    on_event=on_event,
)
urlpatterns = [path("", home), *urls(login)]
application = get_wsgi_application()

if __name__ == "__main__":
    execute_from_command_line(["django", "runserver", "--noreload", "--skip-checks", f"localhost:{PORT}"])
