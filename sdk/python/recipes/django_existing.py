"""A Django site whose users have passwords, and add a wallet or a passkey to their accounts."""

import os
import secrets
import time

import django
from django.conf import settings
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, HttpResponseRedirect
from django.urls import path

PORT = int(os.environ.get("PORT", "9001"))
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
DOMAIN = os.environ.get("DOMAIN", "localhost")
IS_SECURE = SITE.startswith("https:")
COOKIE_SECRET = os.environ.get("COOKIE_SECRET") or secrets.token_urlsafe()
# In a project: settings.py
settings.configure(
    ALLOWED_HOSTS=["localhost"],
    SECRET_KEY=COOKIE_SECRET,
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", __name__],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("DATABASE", "site.sqlite3")}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    SESSION_COOKIE_NAME="__Host-sessionid" if IS_SECURE else "sessionid",  # no other host can set a __Host- cookie
    SESSION_COOKIE_SECURE=IS_SECURE,
    CSRF_COOKIE_NAME="__Host-csrftoken" if IS_SECURE else "csrftoken",
    CSRF_COOKIE_SECURE=IS_SECURE,
)
django.setup()

from django.contrib import auth  # noqa: E402
from django.contrib.auth.decorators import login_required  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.middleware.csrf import get_token  # noqa: E402
from django.views.decorators.http import require_POST  # noqa: E402

from signpost_sdk import DEFAULT_BASE_URL, Signpost  # noqa: E402
from signpost_sdk.django import urls  # noqa: E402
from signpost_sdk.errors import ExternalIdExistsError  # noqa: E402
from signpost_sdk.login import LoggedIn, Login, LoginUser  # noqa: E402

client = Signpost(os.environ["KEY"], base_url=os.environ.get("API", DEFAULT_BASE_URL))


# In a project: models.py
class Wallet(models.Model):
    """The user at Signpost of an account; a separate table changes no existing table."""

    id: "models.CharField[str, str]" = models.CharField(primary_key=True, max_length=40)  # "usr_…"
    account: "models.OneToOneField[User, User]" = models.OneToOneField(User, models.CASCADE)


# In a project: views.py
def sign_in(login: LoggedIn[LoginUser], request: HttpRequest) -> None:
    # Registration is closed, so only users of this table exist. A new session: the one from before the login is invalid.
    account = Wallet.objects.get(id=login.user.id).account
    auth.login(request, account, backend="django.contrib.auth.backends.ModelBackend")


def signpost_id(request: HttpRequest) -> str | None:
    return Wallet.objects.filter(account_id=request.user.pk).values_list("id", flat=True).first()


def is_confirmed(request: HttpRequest) -> bool:
    return time.time() - float(request.session.get("confirmed_at", 0)) < 5 * 60


@require_POST
@login_required
def add_key(request: HttpRequest) -> HttpResponse:
    if not (isinstance(request.user, User) and request.user.check_password(request.POST.get("password", ""))):
        return HttpResponseForbidden("The password is wrong.")
    try:
        user = client.users.create(DOMAIN, external_id=str(request.user.pk)).id
    except ExternalIdExistsError as error:  # a second click
        user = str(error.details["id"])
    Wallet.objects.get_or_create(id=user, account=request.user)
    request.session["confirmed_at"] = time.time()
    return HttpResponseRedirect("/signpost/link?next=/")


@require_POST
def log_in(request: HttpRequest) -> HttpResponse:
    user = auth.authenticate(request, username=request.POST.get("username"), password=request.POST.get("password"))
    if user is None:
        return HttpResponseForbidden("The password is wrong.")
    auth.login(request, user)
    return HttpResponseRedirect("/")


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    auth.logout(request)
    return HttpResponseRedirect("/")


def home(request: HttpRequest) -> HttpResponse:
    def form(action: str, text: str) -> str:
        token = f'<input type="hidden" name="csrfmiddlewaretoken" value="{get_token(request)}">'
        return f'<form method="post" action="{action}">{token}{text}</form>'

    password = '<input name="password" type="password">'
    if not request.user.is_authenticated:
        text = f'<input name="username"> {password} <button>Log in</button>'
        return HttpResponse(
            f'{form("/password", text)} <a href="/signpost/login">Log in with a wallet or a passkey</a>'
        )
    add = form("/add-key", f"Your password, again: {password} <button>Add a key to your account</button>")
    out = form("/logout", "<button>Log out</button>")
    return HttpResponse(f'You are <b id="user">{request.user.get_username()}</b>. {add} {out}')


# In a project: urls.py
handlers = Login(
    client,
    domain=DOMAIN,
    site=SITE,
    cookie_secret=COOKIE_SECRET,
    sign_in=sign_in,
    current_user=signpost_id,
    confirm_recent=is_confirmed,
)
urlpatterns = [
    path("", home),
    path("password", log_in),
    path("add-key", add_key),
    path("logout", log_out),
    *urls(handlers),
]

# In a project: part of manage.py
if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    if not User.objects.exists():
        with connection.schema_editor() as editor:
            editor.create_model(Wallet)  # in a project: makemigrations
        User.objects.create_user("ann", password="correct horse")
    call_command("runserver", f"localhost:{PORT}", "--noreload", "--skip-checks")
