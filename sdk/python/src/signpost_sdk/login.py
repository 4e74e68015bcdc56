"""Login on the service's page: start, return and events. It needs no database.

    login = Login(client, domain="shop.example", site="https://shop.example", cookie_secret=…, sign_in=sign_in)

Mount it with `signpost_sdk.fastapi`, `.flask` or `.django`, or call `handle` yourself.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, Literal

from .calls import SessionCalls
from .client import AsyncSignpost, Signpost
from .cookies import (
    STATE_SECONDS,
    State,
    as_location,
    browser_hash,
    cookie_of,
    cookie_values,
    encode,
    is_local_path,
    is_web_page,
    surplus_states,
)
from .core import refuse
from .errors import SignpostError
from .handlers import Answer, Handlers, Incoming, LoggedIn, R, SeenEvents, SignIn, json_answer
from .replies import Event, Mode
from .steps import Steps, ask

__all__ = ["Answer", "Incoming", "LoggedIn", "Login"]

Failure = Literal["access_denied", "expired", "other_browser", "refused"]
_SAID: Final[dict[str, Failure]] = {"access_denied": "access_denied", "expired": "expired"}
_MAX_NEXT = 1024
"""Maximum length in bytes of UTF-8. It limits the cookie to 4096 bytes; browsers drop larger cookies."""


class Login(Handlers[R]):
    """Handlers below `path`: `GET /login`, `/register`, `/link`, `/return`, and `POST /events`.

    - `site`: the site's public origin; `domain`: the hosted domain that users log in to.
    - `cookie_secret`: at least 32 characters, secret. It signs the cookie that binds a login to its browser.
    - `sign_in(login, request)` sets the site's own login cookie, with a new value. Its return values are added as `Set-Cookie`.
    - `current_user(request)`: the `usr_…` id of the logged-in user, for `/link`, which adds a key to the account. A link
    completes only if its user is still logged in when the browser returns.
    - `failed_path`: the target after a failure, with `login_error` = `access_denied`, `expired`, `other_browser` or `refused`.
    - `webhook_secrets`, `on_event(event)`, `seen_events`: verify events, process each event once, and record it.
    """

    routes = (("GET", "login"), ("GET", "register"), ("GET", "link"), ("GET", "return"), ("POST", "events"))

    def __init__(
        self,
        client: Signpost | AsyncSignpost,
        *,
        domain: str,
        site: str,
        cookie_secret: str,
        sign_in: SignIn[str, R],
        path: str = "/signpost",
        failed_path: str = "/",
        current_user: Callable[[R], str | None | Awaitable[str | None]] | None = None,
        webhook_secrets: str | Iterable[str] = (),
        on_event: Callable[[Event], Any] | None = None,
        seen_events: SeenEvents | None = None,
    ) -> None:
        super().__init__(
            client,
            domain=domain,
            site=site,
            path=path,
            webhook_secrets=webhook_secrets,
            on_event=on_event,
            seen_events=seen_events,
        )
        if len(cookie_secret) < 32:
            raise refuse(
                "cookie_secret needs at least 32 characters: create it with `openssl rand -base64 32` and store it"
            )
        if not is_local_path(failed_path) or "#" in failed_path:
            raise refuse("failed_path is a path of the site without a fragment, such as /login")
        self._key, self._failed_path = cookie_secret.encode(), failed_path
        self._sign_in, self._current_user = sign_in, current_user
        self._sessions = SessionCalls(self.core.in_a_hurry())

    def answer(self, name: str, incoming: Incoming, request: R) -> Steps[Answer | None]:
        """Handles a request for this handler."""
        match name:
            case "login" | "register":
                return (yield from self._start(name, incoming, None))
            case "link":
                user = yield from self._find_user(request)
                if not user:
                    return json_answer(404, {"error": "a key can only be added while a user is logged in"})
                return (yield from self._start("link", incoming, user))
            case "return":
                return (yield from self._finish(incoming, request))
            case _:
                return (yield from self.accept_event(incoming))

    def _find_user(self, request: R) -> Steps[str | None]:
        if self._current_user is None:
            return None
        return (yield from ask(self._current_user, request))

    def _start(self, mode: Mode, incoming: Incoming, user: str | None) -> Steps[Answer]:
        target = incoming.parameter("next") or "/"
        if not is_local_path(target) or len(target.encode()) > _MAX_NEXT:
            target = "/"
        secret, now = encode(self.random(32)), int(self.now())
        session = yield from self._sessions.create(
            domain=self.domain,
            mode=mode,
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
        value = State(secret, now + STATE_SECONDS, mode, target, user).seal(session.id, self._key)
        cookies = [self.site.set_cookie(name, value, STATE_SECONDS), *surplus_states(self.site, incoming.cookies, name)]
        return _redirect(as_location(session.page_url), cookies)

    def _finish(self, incoming: Incoming, request: R) -> Steps[Answer]:
        session_id, code = incoming.parameter("session_id"), incoming.parameter("code")
        if not session_id:
            return self._failed("refused", [])
        name = cookie_of("signpost", session_id)
        values = cookie_values(incoming.fields.get("cookie", ""), self.site.cookie_name(name))
        cleared = [self.site.set_cookie(name, "", 0)] if values else []
        if errors := incoming.parameters("error"):
            return self._failed(_SAID.get(errors[0], "refused") if len(errors) == 1 else "refused", cleared)
        opened = (State.open(value, session_id, self._key, self.now()) for value in values)
        state = next((state for state in opened if state is not None), None)
        if state is None:
            return self._failed("other_browser", cleared)
        if not code:
            return self._failed("refused", cleared)
        # A link adds a key to an account. It must not log in a browser whose user has logged out since.
        if state.mode == "link" and (yield from self._find_user(request)) != state.user:
            return self._failed("refused", cleared)
        try:
            session = yield from self._sessions.complete(session_id, code=code, browser_secret=state.secret)
        except SignpostError as refusal:
            return self._failed(_failure(refusal), cleared)
        user = session.user.id if session.user else None
        if session.status != "authenticated" or session.id != session_id or not user:
            return self._failed("refused", cleared)
        mode = session.mode or state.mode
        if (mode == "link") != (state.mode == "link") or (mode == "link" and user != state.user):
            return self._failed("refused", cleared)
        login = LoggedIn(user, session, mode, state.next)
        own = yield from ask(self._sign_in, login, request)
        return _redirect(as_location(state.next), [*(own or ()), *cleared])

    def _failed(self, reason: Failure, cookies: list[str]) -> Answer:
        separator = "&" if "?" in self._failed_path else "?"
        return _redirect(as_location(f"{self._failed_path}{separator}login_error={reason}"), cookies)


def _failure(error: SignpostError) -> Failure:
    if error.status == 410:
        return "refused" if error.code == "session_cancelled" else "expired"
    if error.status == 406 and error.details.get("reason") == "browser":
        return "other_browser"
    if error.status in (404, 406, 409):
        return "refused"
    raise error


def _redirect(location: str, cookies: list[str]) -> Answer:
    headers = [("Location", location), ("Cache-Control", "no-store"), *(("Set-Cookie", cookie) for cookie in cookies)]
    return Answer(303, tuple(headers))
