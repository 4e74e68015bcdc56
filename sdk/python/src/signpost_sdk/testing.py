"""A login at a site without a browser, for tests. It works only in the sandbox."""

import html
import http.client
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qs, quote, urlencode, urljoin, urlsplit

from .client import DEFAULT_BASE_URL, Signpost
from .core import refuse
from .replies import SessionUser

__all__ = ["LoginFailed", "SiteLogin", "log_in"]

_TIMEOUT = 30
_MAX_PAGE = 1024 * 1024
_MAX_REDIRECTS = 5


class LoginFailed(Exception):
    """A login at a site failed. The message names the cause."""


@dataclass(frozen=True, slots=True)
class SiteLogin:
    """The result of a login at a site."""

    cookies: Mapping[str, str] = field(repr=False)
    """The site's cookies after the login."""
    location: str
    """The URL that the site redirected to after the login."""
    user: SessionUser | None
    """The user, as the service returns it. `None` if the login was cancelled."""

    @property
    def cookie(self) -> str:
        """The value of a `Cookie` header with the cookies."""
        return _to_header(self.cookies)


def log_in(
    site: str,
    *,
    key: str,
    base_url: str = DEFAULT_BASE_URL,
    wallet: int = 1,
    next: str = "/",
    denied: bool = False,
    path: str = "/signpost",
    ssl_context: ssl.SSLContext | None = None,
) -> SiteLogin:
    """Logs a user in at a running site, through the site's own login handlers: as a browser, with a simulated wallet.

    `key` and `base_url` are of the sandbox. `wallet` is the number of the simulated wallet, 1 to 100: each is one user, at
    every login, and the first login creates the user. `next` is the path to continue at, `path` the path of the login
    handlers. With `denied`, the user cancels the login.

    This function blocks: the site must run in another thread or process. Raises `LoginFailed` with the cause if the login
    fails, and `SignpostError` for errors of the service.
    """
    origin = _read_origin(site)
    if not (isinstance(key, str) and key.startswith("svc_test_")):
        raise refuse("log_in needs an API key of the sandbox, svc_test_…")
    if not base_url.rstrip("/").endswith("/sandbox/v1"):
        raise refuse("log_in needs a base URL of the sandbox, …/sandbox/v1")
    browser = _Browser(ssl_context)
    with Signpost(key, base_url=base_url, ssl_context=ssl_context) as client:
        query = "" if next == "/" else f"?next={quote(next, safe='')}"
        page = _open_login_page(browser, f"{origin}{path}/login{query}")
        if not denied:
            _answer(client, browser, page, wallet)
        location = _return_to_site(browser, origin, _leave(browser, page, denied), denied)
        user = None if denied else client.sessions.get(page.session).user
    return SiteLogin(browser.cookies_of(origin), location, user)


def _read_origin(site: str) -> str:
    url = urlsplit(site)
    if url.scheme not in ("http", "https") or not url.netloc or url.path not in ("", "/") or url.query or url.fragment:
        raise refuse("the site is an origin, such as http://localhost:9001")
    return f"{url.scheme}://{url.netloc}"


@dataclass(frozen=True, slots=True)
class _Page:
    """A response, as a browser receives it. `location` is the absolute URL of a redirect."""

    url: str
    status: int
    location: str | None
    html: str

    @property
    def login_error(self) -> str | None:
        """The reason of a failed login, in the URL that the site redirects to."""
        return parse_qs(urlsplit(self.location or "").query).get("login_error", [None])[0]

    @property
    def text(self) -> str:
        """The start of the text of the main part, for errors."""
        main = re.search("<main[^>]*>(.*?)</main>", self.html, re.DOTALL)
        return " ".join(re.sub("<[^>]*>", " ", main[1] if main else self.html).split())[:300]

    def attribute(self, tag: str, name: str) -> str | None:
        """Returns an attribute of the first tag that matches."""
        found = re.search(tag, self.html, re.DOTALL)
        value = re.search(rf'\s{name}="([^"]*)"', found[0]) if found else None
        return html.unescape(value[1]) if value else None


@dataclass(frozen=True, slots=True)
class _LoginPage:
    """A login page in the browser."""

    shown: _Page
    session: str


def _open_login_page(browser: "_Browser", start: str) -> _LoginPage:
    """Follows the redirects from the site to the login page."""
    url = start
    for _ in range(_MAX_REDIRECTS + 1):
        found = re.search(r"(/sandbox)?/login/(sess_\w+)$", urlsplit(url).path)
        if found and not found[1]:
            raise LoginFailed("the site uses the live environment: give it the key and the base URL of the sandbox")
        page = browser.open(url)
        if found:
            if page.status != 200:
                raise LoginFailed(f"the login page has status {page.status}: {page.text}")
            return _LoginPage(page, found[2])
        if page.login_error:
            raise LoginFailed(
                f"the site could not start a login (login_error={page.login_error}); its on_error has the reason"
            )
        if page.location is None:
            redirect = "a redirect to the login page: are the login handlers mounted there?"
            raise LoginFailed(f"{url} has status {page.status} instead of {redirect}")
        url = page.location
    raise LoginFailed(f"{start} redirected more than {_MAX_REDIRECTS} times, and not to the login page")


def _answer(client: Signpost, browser: "_Browser", page: _LoginPage, wallet: int) -> None:
    """Answers the code of the page with a simulated wallet. For a new wallet, the page shows another code."""
    for is_new in (False, True):
        simulation = client.sessions.simulate(page.session, wallet=wallet)
        if simulation.status == 200:
            return
        body = simulation.body or simulation.error or ""
        if is_new or "account_needed" not in body:
            raise LoginFailed(f"the simulated wallet was refused with status {simulation.status}: {body}")
        browser.open(page.shown.url)


def _leave(browser: "_Browser", page: _LoginPage, denied: bool) -> str:
    """Returns the URL that the page sends the browser back to."""
    shown = _cancel(browser, page.shown) if denied else browser.open(page.shown.url)
    back = shown.location or shown.attribute(f'<a id="{"back" if denied else "continue"}"[^>]*>', "href")
    if back is None:
        raise LoginFailed(f"the login page has no link back to the site; its status is {shown.status}: {shown.text}")
    return back


def _cancel(browser: "_Browser", shown: _Page) -> _Page:
    action = shown.attribute('<form id="cancel"[^>]*>', "action")
    token = shown.attribute('(?<=<form id="cancel").*?name="token"[^>]*>', "value")
    if action is None or token is None:
        raise LoginFailed(f"the login cannot be cancelled: {shown.text}")
    return browser.submit(urljoin(shown.url, action), urlencode({"token": token}))


def _return_to_site(browser: "_Browser", origin: str, back: str, denied: bool) -> str:
    """Opens the site's return, and returns the URL that the site redirects to."""
    if _origin_of(back) != origin:
        there = f"{_origin_of(back)}, the site of the login handlers"
        raise LoginFailed(f"the login returns to {there}: log in there instead of at {origin}")
    page = browser.open(back)
    if page.location is None:
        raise LoginFailed(f"the site answered the return of the login with status {page.status}")
    if page.login_error and not (denied and page.login_error == "access_denied"):
        raise LoginFailed(f"the login failed with login_error={page.login_error}; on_error of the site has the reason")
    return page.location


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _to_header(cookies: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


class _Browser:
    """A browser without scripts, with separate cookies for each origin."""

    def __init__(self, ssl_context: ssl.SSLContext | None) -> None:
        self._ssl_context = ssl_context
        self._jars: dict[str, dict[str, str]] = {}

    def open(self, url: str) -> _Page:
        return self._send("GET", url, {})

    def submit(self, url: str, form: str) -> _Page:
        headers = {"Origin": _origin_of(url), "Content-Type": "application/x-www-form-urlencoded"}
        return self._send("POST", url, headers, form)

    def cookies_of(self, origin: str) -> dict[str, str]:
        return self._jars.setdefault(origin, {})

    def _send(self, method: str, url: str, more: Mapping[str, str], body: str | None = None) -> _Page:
        parts, cookies = urlsplit(url), self.cookies_of(_origin_of(url))
        headers = {"Accept": "text/html", **more}
        if cookies:
            headers["Cookie"] = _to_header(cookies)
        connection = self._connect(parts.scheme, parts.netloc)
        try:
            connection.request(method, f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}", body, headers)
            response = connection.getresponse()
            content = response.read(_MAX_PAGE + 1)
        except (OSError, http.client.HTTPException) as error:
            raise LoginFailed(f"no reply from {_origin_of(url)}: {error}") from error
        finally:
            connection.close()
        if len(content) > _MAX_PAGE:
            raise LoginFailed("the page is longer than 1 MiB")
        for line in response.headers.get_all("Set-Cookie", []):
            _store(cookies, line)
        target = response.headers.get("Location")
        location = urljoin(url, target) if target is not None else None
        return _Page(url, response.status, location, content.decode("utf-8", "replace"))

    def _connect(self, scheme: str, host: str) -> http.client.HTTPConnection:
        if scheme == "http":
            return http.client.HTTPConnection(host, timeout=_TIMEOUT)
        context = self._ssl_context or ssl.create_default_context()
        return http.client.HTTPSConnection(host, timeout=_TIMEOUT, context=context)


def _store(cookies: dict[str, str], line: str) -> None:
    """Stores or deletes the cookie of a `Set-Cookie` line."""
    pair, *attributes = (part.strip() for part in line.split(";"))
    name, _, value = pair.partition("=")
    if any(_is_over(attribute) for attribute in attributes):
        cookies.pop(name, None)
    else:
        cookies[name] = value


def _is_over(attribute: str) -> bool:
    name, _, value = attribute.partition("=")
    try:
        if name.lower() == "max-age":
            return int(value) <= 0
        if name.lower() == "expires":
            return parsedate_to_datetime(value) <= datetime.now(UTC)
    except (TypeError, ValueError):
        return False
    return False
