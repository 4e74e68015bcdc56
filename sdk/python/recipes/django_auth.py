"""A site with Django's own users and sessions, and Signpost's login page."""

import os
import secrets

import django
from django.conf import settings
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from django.urls import path

PORT = int(os.environ.get("PORT", "9001"))
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
IS_SECURE = SITE.startswith("https:")
COOKIE_SECRET = os.environ.get("COOKIE_SECRET") or secrets.token_urlsafe()
# In a project: settings.py
settings.configure(
    ALLOWED_HOSTS=["localhost"],
    SECRET_KEY=COOKIE_SECRET,
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("DATABASE", "site.sqlite3")}},
    SESSION_COOKIE_NAME="__Host-sessionid" if IS_SECURE else "sessionid",  # no other host can set a __Host- cookie
    SESSION_COOKIE_SECURE=IS_SECURE,
    CSRF_COOKIE_NAME="__Host-csrftoken" if IS_SECURE else "csrftoken",
    CSRF_COOKIE_SECURE=IS_SECURE,
    LOGIN_URL="/signpost/login",  # login_required adds ?next=, and the login returns to that page
    LOGOUT_REDIRECT_URL="/",
)
django.setup()

from django.contrib import auth  # noqa: E402
from django.contrib.auth.decorators import login_required  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.auth.views import LogoutView  # noqa: E402
from django.middleware.csrf import get_token  # noqa: E402

from signpost_sdk import DEFAULT_BASE_URL, Signpost  # noqa: E402
from signpost_sdk.django import urls  # noqa: E402
from signpost_sdk.login import LoggedIn, Login, LoginUser  # noqa: E402


# In a project: views.py
def sign_in(login: LoggedIn[LoginUser], request: HttpRequest) -> None:
    user, is_new = User.objects.get_or_create(username=login.user.id)
    if is_new:
        user.set_unusable_password()
        user.save()
    # Creates a new session, so that the session from before the login is invalid.
    auth.login(request, user, backend="django.contrib.auth.backends.ModelBackend")


def home(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        return HttpResponse('<a href="/signpost/login">Log in</a>')
    token = f'<input type="hidden" name="csrfmiddlewaretoken" value="{get_token(request)}">'
    out = f'<form method="post" action="/logout">{token}<button>Log out</button></form>'
    return HttpResponse(f'You are <b id="user">{request.user.get_username()}</b>. {out}')


@login_required
def account(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f'The account of <b id="user">{request.user.get_username()}</b>.')


# In a project: urls.py
login_handlers = Login(
    Signpost(os.environ["KEY"], base_url=os.environ.get("API", DEFAULT_BASE_URL)),
    domain=os.environ.get("DOMAIN", "localhost"),
    site=SITE,
    cookie_secret=COOKIE_SECRET,
    sign_in=sign_in,
    current_user=lambda request: request.user.get_username() or None,
    webhook_secrets=os.environ.get("WEBHOOK_SECRET") or (),
)
urlpatterns = [path("", home), path("account", account), path("logout", LogoutView.as_view()), *urls(login_handlers)]

# In a project: part of manage.py
if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    call_command("runserver", f"localhost:{PORT}", "--noreload", "--skip-checks")
