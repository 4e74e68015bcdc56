"""The check of the settings when a site starts. It runs in the background, and never stops the site."""

import asyncio
import threading
from dataclasses import replace
from typing import Final

from .calls import DomainCalls
from .core import Core
from .errors import SignpostError
from .handlers import log
from .steps import Steps
from .transport import HttpTransport

_TIMEOUT: Final = 5.0
"""Timeout of each request, in seconds."""
_MAX_PAGES: Final = 100
"""Maximum number of requested pages of the list of domains."""


class StartupCheck:
    """A single check of the key, the base URL and the domain with the service. A fault is a line in the log."""

    def __init__(self, core: Core, domain: str) -> None:
        self._core = replace(core, timeout=_TIMEOUT, retries=0, threads=None, waiting_threads=None)
        self._domain = domain
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the check in a thread. An async transport belongs to an event loop, so its check starts later."""
        if self._core.send_sync is not None:
            threading.Thread(target=self._run, name="signpost-startup", daemon=True).start()

    def start_on_loop(self) -> None:
        """Starts the check of an async transport on the running event loop, once."""
        if self._core.send_sync is None and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run_async())

    def _run(self) -> None:
        own: HttpTransport | None = None
        if isinstance(self._core.send_sync, HttpTransport):
            # Not the client's transport: a server that forks during the check would copy a locked lock.
            own = HttpTransport(self._core.send_sync.ssl_context)
            self._core.send_sync = own
        try:
            _report(self._core.run(_find_fault(self._core, self._domain)))
        except Exception as error:
            log.warning("signpost: the check of the settings failed: %s", error)
        finally:
            if own is not None:
                own.close()

    async def _run_async(self) -> None:
        try:
            _report(await self._core.run_async(_find_fault(self._core, self._domain)))
        except Exception as error:
            log.warning("signpost: the check of the settings failed: %s", error)


def _report(fault: str | None) -> None:
    if fault is not None:
        log.warning("signpost: logins will fail: %s", fault)


def _find_fault(core: Core, domain: str) -> Steps[str | None]:
    """Returns a sentence about the first fault, with its remedy; None if there is none."""
    try:
        handler = yield from _find_handler(DomainCalls(core), domain)
    except SignpostError as error:
        return _describe(error, core.base_url)
    if handler is None:
        remedy = f"run signpost domains add {domain} --handler hosted"
        return f"the domain {domain} is not registered with this API key: {remedy}"
    if handler == "direct":
        return f"the domain {domain} has the handler direct, and the login page requires the handler hosted"
    return None


def _find_handler(calls: DomainCalls, domain: str) -> Steps[str | None]:
    """Returns the handler of a domain of this account; None if there is no such domain."""
    try:
        return (yield from calls.get(domain)).handler
    except SignpostError as error:
        if error.code != "domain_not_found":
            raise
    # Earlier versions of the service find a domain only by its ID.
    pages, cursor = calls.all(), None
    for _ in range(_MAX_PAGES):
        items, cursor = yield from pages.after(cursor)
        for listed in items:
            if listed.domain == domain:
                return (yield from calls.get(listed.id)).handler
        if cursor is None:
            break
    return None


def _describe(error: SignpostError, base_url: str) -> str:
    match error.code:
        case "invalid_api_key":
            hint = "check its value, and whether it belongs to the environment of the base URL"
            return f"{base_url} rejects the API key: {hint} ({error})"
        case "insufficient_scope":
            return f"the API key has no scope auth: create one with signpost keys create --scope auth ({error})"
        case "connection_failed" | "timeout":
            return f"the service cannot be reached at the base URL {base_url} ({error})"
        case "invalid_argument":
            return error.message
    if error.code == "invalid_response" or error.status == 404:
        hint = "it ends in /v1 or /sandbox/v1"
        return f"the base URL {base_url} is not that of a Signpost server; {hint} ({error})"
    return f"the service at {base_url} replied with {error.code} ({error})"
