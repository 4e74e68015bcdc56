"""Requests that must not start a login: prefetches, and requests to another host than the site's."""

import logging
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from .cookies import Site, is_local_path
from .handlers import Incoming

_PURPOSE_HEADERS: Final = ("sec-purpose", "x-sec-purpose", "purpose", "x-purpose", "x-moz")
"""Headers that contain `prefetch`, `prerender` or `preview` in requests for a page that the user has not opened yet."""
_ROUTER_HEADERS: Final = ("next-router-prefetch", "rsc")
"""Headers of Next.js in requests for the data of a page. Without the data, Next.js opens the page itself."""
_HOST_MARKER: Final = "signpost_host"
"""Name of the parameter of a request that was redirected from another host."""
_MAX_NEXT: Final = 1024
"""Maximum length in bytes of UTF-8. It limits the cookie to 4096 bytes; browsers drop larger cookies."""
log = logging.getLogger("signpost_sdk")


def is_prefetch(fields: Mapping[str, str]) -> bool:
    """Returns whether the request is a prefetch or comes from a script. Without `Sec-Fetch-Mode`, it is a navigation."""
    if any(re.search("prefetch|prerender|preview", fields.get(name, ""), re.IGNORECASE) for name in _PURPOSE_HEADERS):
        return True
    if any(name in fields for name in _ROUTER_HEADERS):
        return True
    return fields.get("sec-fetch-mode", "navigate") != "navigate"


def next_of(incoming: Incoming) -> str:
    """Returns the checked `next` of a request; `/` if it is missing, repeated, too long or not a path of the site."""
    target = incoming.parameter("next") or "/"
    is_valid = is_local_path(target) and len(target.encode("utf-8", "replace")) <= _MAX_NEXT
    return target if is_valid else "/"


def query_value(text: str) -> str:
    """Returns the value of a query parameter, percent-encoded except for letters, digits and `-._~`."""
    return quote(text, safe="", errors="replace")


class HostCheck:
    """Redirects requests to another host than the site's, because the site would not get their cookies at the return."""

    def __init__(self, site: Site, path: str) -> None:
        self._site, self._path = site, path
        self._logged = set[str]()

    def redirect(self, incoming: Incoming, name: str) -> str | None:
        """Returns the URL at the site to redirect to; None if the login may start.

        A request is redirected once: behind a proxy that replaces the `Host` header, each request has another host.
        """
        host = incoming.fields.get("host")
        if host is None or self._site.has_host(host):
            return None
        shown, origin = ascii(host[:100]), self._site.origin
        if incoming.parameters(_HOST_MARKER):
            self._log_once(
                "proxy",
                f"requests have the host {shown} although browsers use {origin}: let the proxy pass the Host header "
                "(nginx: proxy_set_header Host $host), or correct the argument site",
            )
            return None
        self._log_once(
            "redirect", f"a login began at the host {shown} and was redirected to {origin}, the argument site"
        )
        target = next_of(incoming)
        parameters = "" if target == "/" else f"next={query_value(target)}&"
        return f"{origin}{self._path}/{name}?{parameters}{_HOST_MARKER}=1"

    def _log_once(self, kind: str, line: str) -> None:
        # Once per process, because each request would repeat it.
        if kind not in self._logged:
            self._logged.add(kind)
            log.warning("signpost: %s", line)
