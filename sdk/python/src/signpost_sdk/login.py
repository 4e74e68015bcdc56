"""Login on the service's page: start, return, link, logout and events. It needs no database.

    login = Login(client, domain="shop.example", site="https://shop.example", cookie_secret=…, sign_in=sign_in)

Mount it with `signpost_sdk.fastapi`, `.flask` or `.django`, or call `handle` yourself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal

from .calls import SessionCalls
from .client import AsyncSignpost, Signpost
from .cookies import (
    STATE_SECONDS,
    State,
    StateMode,
    all_states,
    as_location,
    browser_hash,
    cookie_of,
    cookie_values,
    encode,
    is_local_path,
    is_web_page,
    read_cookies,
    surplus_states,
)
from .core import refuse
from .errors import SignpostError
from .handlers import (
    NO_STORE,
    Answer,
    Handlers,
    HandlerStep,
    Incoming,
    LoggedIn,
    OnError,
    R,
    SeenEvents,
    SetCookies,
    SignIn,
    json_answer,
)
from .login_user import LoginUser, login_user
from .navigation import HostCheck, is_prefetch, next_of, query_value
from .replies import Event, Session
from .startup import StartupCheck
from .steps import CallSync, Steps, ask
from .user_calls import UserCalls

__all__ = ["Answer", "HandlerStep", "Incoming", "LoggedIn", "Login", "LoginError", "LoginUser"]

LoginError = Literal["access_denied", "expired", "other_browser", "refused", "unavailable"]
"""The reason for a failed login, in the parameter `login_error` of `failed_path`."""
_ERRORS_OF_THE_PAGE: Final[dict[str, LoginError]] = {"access_denied": "access_denied", "expired": "expired"}
_STEPS: Final[dict[str, HandlerStep]] = {
    "login": "start", "register": "start", "link": "link", "return": "return", "logout": "logout",
}  # fmt: skip
_UNAVAILABLE_COOKIE: Final = "signpost-unavailable"
_UNAVAILABLE_SECONDS: Final = 10
"""Time in which a second fault of the service is a 503 instead of a redirect, in seconds."""


@dataclass(slots=True)
class _Visit(Generic[R]):
    """A request of a browser, with the data for the response if it fails."""

    incoming: Incoming
    request: R
    step: HandlerStep
    next: str = "/"
    """The checked path to continue at."""
    cleared: list[str] = field(default_factory=list)
    """`Set-Cookie` values that delete the state of this login."""


class Login(Handlers[R]):
    """Handlers below `path`: `GET /login`, `/register`, `/link`, `/return`, `/logout`, and `POST /logout`, `/events`.

    - `site`: the site's public origin; `domain`: the hosted domain that users log in to.
    - `cookie_secret`: at least 32 characters, secret. It signs the cookie that binds a login to its browser.
    - `sign_in(login, request)` sets the site's own login cookie, with a new value. Its return values are added as `Set-Cookie`.
    - `sign_out(request)` ends the site's login, for `/logout`. Its return values are added as `Set-Cookie`.
    - `current_user(request)`: the `usr_…` id of the logged-in user, for `/link`, which adds a key to the account. A link
    completes only if its user is still logged in when the browser returns.
    - `confirm_recent(request)`: whether the logged-in user proved a moment ago to be this user, such as by the password. It
    permits to add the first key to an account without keys; without this function, that is refused.
    - `failed_path`: the target after a failure, with `login_error` (`access_denied`, `expired`, `other_browser`, `refused` or
    `unavailable`) and `next`. It needs no login, and is not below `path`.
    - `webhook_secrets`, `on_event(event)`, `seen_events`: verify events, process each event once, and record it.
    - `on_error(error, step)` receives the errors of the service and of `on_event`. By default they are logged.
    - `startup_check`: whether the key, the base URL and the domain are checked in the background, with faults in the log.
    """

    routes = (
        ("GET", "login"), ("GET", "register"), ("GET", "link"), ("GET", "return"), ("GET", "logout"), ("POST", "logout"),
        ("POST", "events"),
    )  # fmt: skip

    def __init__(
        self,
        client: Signpost | AsyncSignpost,
        *,
        domain: str,
        site: str,
        cookie_secret: str,
        sign_in: SignIn[LoginUser, R],
        sign_out: Callable[[R], SetCookies | Awaitable[SetCookies]] | None = None,
        path: str = "/signpost",
        failed_path: str = "/",
        current_user: Callable[[R], str | None | Awaitable[str | None]] | None = None,
        confirm_recent: Callable[[R], bool | Awaitable[bool]] | None = None,
        webhook_secrets: str | Iterable[str] = (),
        on_event: Callable[[Event], Any] | None = None,
        seen_events: SeenEvents | None = None,
        on_error: OnError | None = None,
        startup_check: bool = True,
    ) -> None:
        super().__init__(
            client,
            domain=domain,
            site=site,
            path=path,
            webhook_secrets=webhook_secrets,
            on_event=on_event,
            seen_events=seen_events,
            on_error=on_error,
        )
        if len(cookie_secret) < 32:
            raise refuse(
                "cookie_secret needs at least 32 characters: create it with `openssl rand -base64 32` and store it"
            )
        _check_failed_path(failed_path, path, {name for _, name in self.routes})
        self._key, self._failed_path = cookie_secret.encode(), failed_path
        self._sign_in, self._sign_out = sign_in, sign_out
        self._current_user, self._confirm_recent = current_user, confirm_recent
        self._hosts = HostCheck(self.site, path)
        # The user is waiting.
        self._sessions = SessionCalls(self.core.in_a_hurry())
        self._users = UserCalls(self.core.in_a_hurry())
        self._check = StartupCheck(self.core, domain) if startup_check else None
        if self._check is not None:
            self._check.start()

    async def handle_async(
        self, incoming: Incoming, request: R, /, call_sync: CallSync = asyncio.to_thread
    ) -> Answer | None:
        """Like `handle`, for event loops. The site's functions may be async; `call_sync` calls the others."""
        if self._check is not None:
            self._check.start_on_loop()
        return await super().handle_async(incoming, request, call_sync)

    def cancel_pending(self, cookie_header: str | None) -> list[str]:
        """Returns the `Set-Cookie` values that cancel the browser's pending logins and links, for a logout of your own.

        `cookie_header` is the request's `Cookie`.
        """
        return all_states(self.site, read_cookies(cookie_header or ""))

    def answer(self, name: str, incoming: Incoming, request: R) -> Steps[Answer | None]:
        """Handles a request for this handler. An error of the service never sets the status of the page."""
        if name == "events":
            return (yield from self.accept_event(incoming))
        if name != "return" and incoming.method == "GET" and is_prefetch(incoming.fields):
            # Not stored, because the navigation that follows needs another response.
            return Answer(204, (NO_STORE,))
        if name not in ("return", "logout") and (target := self._hosts.redirect(incoming, name)):
            return _redirect(target, [])
        visit = _Visit(incoming, request, _STEPS[name])
        try:
            return (yield from self._respond(name, visit))
        except SignpostError as error:
            yield from self.report(error, visit.step)
            return self._fail(visit, _login_error(error))

    def _respond(self, name: str, visit: _Visit[R]) -> Steps[Answer]:
        if name == "return":
            return (yield from self._finish(visit))
        visit.next = next_of(visit.incoming)
        if name == "logout":
            return (yield from self._log_out(visit))
        if name == "link":
            return (yield from self._link(visit))
        return (yield from self._open(visit, "register" if name == "register" else "login"))

    def _open(self, visit: _Visit[R], mode: StateMode, user: str | None = None) -> Steps[Answer]:
        """Creates a session and redirects the browser to its page."""
        secret, now = encode(self.random(32)), int(self.now())
        session = yield from self._sessions.create(
            domain=self.domain,
            mode="login" if mode == "confirm" else mode,
            flow="page",
            user=user,
            browser_hash=browser_hash(secret),
            metadata={"return_url": f"{self.site.origin}{self.path}/return"},
        )
        if session.page_url is None or not is_web_page(session.page_url):
            raise SignpostError(
                "invalid_response", "the session has no page_url on the web: is the server older than this SDK?"
            )
        name = cookie_of("signpost", session.id)
        value = State(secret, now + STATE_SECONDS, mode, visit.next, user).seal(session.id, self._key)
        surplus = surplus_states(self.site, visit.incoming.cookies, name)
        cookies = [self.site.set_cookie(name, value, STATE_SECONDS), *visit.cleared]
        return _redirect(session.page_url, [*cookies, *(cookie for cookie in surplus if cookie not in cookies)])

    def _link(self, visit: _Visit[R]) -> Steps[Answer]:
        """Starts to add a key to the account of the logged-in user."""
        if self._current_user is None:
            return json_answer(404, {"error": "keys cannot be added here: the site has no function current_user"})
        user = yield from ask(self._current_user, visit.request)
        if not user:
            return self._log_in_before_link(visit.next)
        is_confirmed = yield from self._has_credential(user)
        if not is_confirmed and self._confirm_recent is not None:
            is_confirmed = (yield from ask(self._confirm_recent, visit.request)) is True
        if not is_confirmed:
            return self._fail(visit, "refused")
        try:
            return (yield from self._open(visit, "link", user))
        except SignpostError as error:
            if error.code != "recent_login_required":
                raise
        return (yield from self._open(visit, "confirm", user))

    def _log_in_before_link(self, target: str) -> Answer:
        """Redirects to the login, which continues at the link."""
        link = f"{self.path}/link" if target == "/" else f"{self.path}/link?next={query_value(target)}"
        return _redirect(f"{self.path}/login?next={query_value(link)}", [])

    def _has_credential(self, user: str) -> Steps[bool]:
        """Returns whether the user has a key, so that the service itself requires a recent login."""
        try:
            return len((yield from self._users.get(self.domain, user)).credentials) > 0
        except SignpostError as error:
            # Earlier versions of the service find a domain only by its ID; they have no users without keys.
            if error.status == 404 and error.code != "user_not_found":
                return True
            raise

    def _finish(self, visit: _Visit[R]) -> Steps[Answer]:
        """Completes the login of a browser that returned."""
        incoming = visit.incoming
        session_id, code = incoming.parameter("session_id"), incoming.parameter("code")
        if not session_id:
            return self._fail(visit, "refused")
        state = self._take_state(visit, session_id)
        if errors := incoming.parameters("error"):
            # Any browser may see an error, because it logs in no user.
            reason = _ERRORS_OF_THE_PAGE.get(errors[0], "refused") if len(errors) == 1 else "refused"
            return self._fail(visit, reason)
        if state is None:
            return self._fail(visit, "other_browser")
        if not code:
            return self._fail(visit, "refused")
        # A link, and the login before it, must not affect a browser whose user has logged out since.
        if state.user is not None and (yield from self._find_user(visit.request)) != state.user:
            return self._fail(visit, "refused")
        session = yield from self._sessions.complete(session_id, code=code, browser_secret=state.secret)
        user = session.user
        if user is None or not user.id or not _has_completed(session, session_id, state):
            return self._fail(visit, "refused")
        if state.mode == "confirm":
            return (yield from self._open(visit, "link", state.user))
        if state.mode == "link":
            return _redirect(state.next, visit.cleared)
        mode: Literal["login", "register"] = "register" if (session.mode or state.mode) == "register" else "login"
        login = LoggedIn(login_user(user.id, user), session, mode, state.next)
        own = yield from ask(self._sign_in, login, visit.request)
        return _redirect(state.next, [*visit.cleared, *(own or ())])

    def _take_state(self, visit: _Visit[R], session_id: str) -> State | None:
        """Returns the state of the session, if it is valid, and records `next` and the deletion of its cookie."""
        name = cookie_of("signpost", session_id)
        # Another site of the domain may set a duplicate.
        values = cookie_values(visit.incoming.fields.get("cookie", ""), self.site.cookie_name(name))
        if values:
            visit.cleared = [self.site.set_cookie(name, "", 0)]
        for value in values:
            state = State.open(value, session_id, self._key, self.now())
            if state is not None:
                visit.next = state.next
                return state
        return None

    def _find_user(self, request: R) -> Steps[str | None]:
        if self._current_user is None:
            return None
        return (yield from ask(self._current_user, request))

    def _log_out(self, visit: _Visit[R]) -> Steps[Answer]:
        """Ends the login, and cancels the browser's pending logins and links."""
        if self._sign_out is None:
            return json_answer(404, {"error": "there is no logout here: the site has no function sign_out"})
        if visit.incoming.fields.get("sec-fetch-site") == "cross-site":
            return json_answer(403, {"error": "another site cannot log users out"})
        own = yield from ask(self._sign_out, visit.request)
        return _redirect(visit.next, [*all_states(self.site, visit.incoming.cookies), *(own or ())])

    def _fail(self, visit: _Visit[R], reason: LoginError) -> Answer:
        """Redirects to `failed_path`. A page that starts a login again would loop during an outage, so the second is a 503."""
        cookies = [*visit.cleared]
        if reason == "unavailable":
            if self.site.cookie_name(_UNAVAILABLE_COOKIE) in visit.incoming.cookies:
                return _unavailable(cookies)
            cookies.append(self.site.set_cookie(_UNAVAILABLE_COOKIE, "1", _UNAVAILABLE_SECONDS))
        separator = "&" if "?" in self._failed_path else "?"
        target = "" if visit.next == "/" else f"&next={query_value(visit.next)}"
        return _redirect(f"{self._failed_path}{separator}login_error={reason}{target}", cookies)


def _check_failed_path(failed_path: str, path: str, names: set[str]) -> None:
    """Raises `invalid_argument` unless the path is a page of the site that starts no login."""
    if not is_local_path(failed_path) or "#" in failed_path:
        raise refuse("failed_path is a path of the site without a fragment, such as /login")
    page = failed_path.partition("?")[0]
    is_handler = page in {f"{path}/{name}" for name in names}
    if is_handler or (path and (page == path or page.startswith(f"{path}/"))):
        below = path or "/"
        raise refuse(
            f"failed_path must not be below {below}, the argument path: a failed login would start the next login"
        )


def _login_error(error: SignpostError) -> LoginError:
    """Returns the reason that the user is shown for an error of the service."""
    if error.code == "invalid_response":
        return "unavailable"
    if error.code == "session_expired":
        return "expired"
    if error.status == 406 and error.details.get("reason") == "browser":
        return "other_browser"
    if error.status in (406, 409, 410):
        return "refused"
    is_refusal = error.code in ("session_not_found", "user_not_found", "recent_login_required")
    return "refused" if is_refusal else "unavailable"


def _has_completed(session: Session, session_id: str, state: State) -> bool:
    """Returns whether the service completed the session of this state, for its user."""
    user = session.user.id if session.user else None
    if session.id != session_id or session.status != "authenticated" or not user:
        return False
    if state.user is not None and user != state.user:
        return False
    if state.mode == "confirm":
        return (session.mode or "login") == "login"
    return ((session.mode or state.mode) == "link") == (state.mode == "link")


def _unavailable(cookies: list[str]) -> Answer:
    headers = [("Content-Type", "text/plain; charset=utf-8"), NO_STORE, ("Retry-After", str(_UNAVAILABLE_SECONDS))]
    text = b"The login is not available at the moment. Try again in a few seconds.\n"
    return Answer(503, (*headers, *(("Set-Cookie", cookie) for cookie in cookies)), text)


def _redirect(location: str, cookies: list[str]) -> Answer:
    headers = [("Location", as_location(location)), NO_STORE, *(("Set-Cookie", cookie) for cookie in cookies)]
    return Answer(303, tuple(headers))
