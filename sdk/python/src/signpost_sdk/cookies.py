"""The site's origin, its cookies, and the state of a pending login."""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import quote, urlsplit

from .core import refuse
from .errors import SignpostError

StateMode = Literal["login", "register", "link", "confirm"]
"""The purpose of a pending login; `confirm` is the login of a known user before a link."""
STATE_SECONDS = 1800
"""Lifetime of a login state and of a shown code's cookie, in seconds."""
_KEPT_STATES = 3


@dataclass(frozen=True, slots=True)
class Site:
    """The origin of the site. Plain http is for local development: `__Host-` cookies need https."""

    origin: str

    @classmethod
    def parse(cls, text: str) -> "Site":
        """Parses an origin; a trailing slash is dropped."""
        url = urlsplit(text)
        bare = f"{url.scheme}://{url.netloc}"
        if (
            url.scheme not in ("http", "https")
            or not url.hostname
            or "@" in url.netloc
            or text not in (bare, f"{bare}/")
        ):
            raise refuse(
                f"site is the origin that people see, such as https://shop.example, without a path, not {text!r}"
            )
        default = {"http": ":80", "https": ":443"}[url.scheme]
        return cls(bare.lower().removesuffix(default))

    def has_host(self, host: str) -> bool:
        """Returns whether a `Host` header names the site's host."""
        try:
            return Site.parse(f"{self.origin.partition('://')[0]}://{host}") == self
        except (SignpostError, ValueError):
            return False

    def cookie_name(self, name: str) -> str:
        """Returns the name with its prefix."""
        return f"__Host-{name}" if self.origin.startswith("https:") else name

    def set_cookie(self, name: str, value: str, max_age: int) -> str:
        """Returns a `Set-Cookie` value; `name` is without the prefix."""
        secure = "; Secure" if self.origin.startswith("https:") else ""
        return f"{self.cookie_name(name)}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}"

    def read_cookie(self, header: str | None, name: str) -> str | None:
        """Returns the value from a `Cookie` header; `name` is without the prefix.

        None if the cookie is missing or ambiguous: another site may have set a duplicate.
        """
        values = cookie_values(header or "", self.cookie_name(name))
        return values[0] if len(values) == 1 and values[0] else None


def read_cookies(header: str) -> dict[str, str]:
    """Returns the cookies of a `Cookie` header, in its order."""
    cookies: dict[str, str] = {}
    for pair in header.split(";"):
        name, equals, value = pair.strip(" ").partition("=")
        if equals:
            cookies.setdefault(name, value)
    return cookies


def cookie_values(header: str, name: str) -> list[str]:
    """Returns the values of all cookies with this name. A site on a parent domain can put its cookie first."""
    pairs = (pair.strip(" ").partition("=") for pair in header.split(";"))
    return [value for found, equals, value in pairs if equals and found == name]


def is_local_path(text: str) -> bool:
    """Returns whether this path stays on the site in a browser."""
    leaves = text.startswith(("//", "/\\")) or any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text)
    return text.startswith("/") and not leaves


def as_location(path: str) -> str:
    """Returns the path or URL, percent-encoded for a header. Existing escapes are not encoded again."""
    return quote(path, safe="!#$%&'()*+,/:;=?@[]~", errors="replace")


def is_web_page(url: str) -> bool:
    """Returns whether the text is an http or https URL that a browser may be redirected to."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    has_gaps = any(letter <= " " or "\x7f" <= letter < "\xa0" for letter in url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not has_gaps


def encode(content: bytes) -> str:
    """Encodes in base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def browser_hash(secret: str) -> str:
    """Returns the hash of a browser's secret that the service stores."""
    return encode(hashlib.sha256(secret.encode()).digest())


def cookie_of(kind: str, session_id: str) -> str:
    """Returns the name of this session's cookie, without the prefix."""
    return f"{kind}-{hashlib.sha256(session_id.encode('utf-8', 'replace')).digest()[:8].hex()}"


@dataclass(frozen=True, slots=True)
class State:
    """The content of a login's cookie: the browser's secret, the expiry, the mode and the path to continue at."""

    secret: str
    expires: int
    mode: StateMode
    next: str
    user: str | None = None
    """The user of `link` and `confirm`; None for other modes."""

    def seal(self, session_id: str, key: bytes) -> str:
        """Returns the signed cookie value."""
        text = f"v1.{self.secret}.{self.expires}.{self.mode}.{encode(self.next.encode())}"
        if self.user is not None:
            text = f"{text}.{encode(self.user.encode())}"
        return f"{text}.{_mac(key, session_id, text)}"

    @classmethod
    def open(cls, value: str, session_id: str, key: bytes, now: float) -> "State | None":
        """Returns the state if it was signed for this session and has not expired."""
        text, _, mac = value.rpartition(".")
        if not hmac.compare_digest(mac.encode("utf-8", "replace"), _mac(key, session_id, text).encode()):
            return None
        try:
            _, secret, expires, mode, target, *rest = text.split(".")
            path, users = _decode(target), [_decode(part) for part in rest]
            known = next((word for word in get_args(StateMode) if word == mode), None)
            ends = _seconds(expires)
            if ends <= now or known is None or len(users) != (known in ("link", "confirm")):
                return None
            return cls(secret, ends, known, path if is_local_path(path) else "/", users[0] if users else None)
        except (ValueError, binascii.Error):
            return None


def surplus_states(site: Site, cookies: dict[str, str], new: str) -> list[str]:
    """Returns `Set-Cookie` values that delete all but the newest states. The state `new` counts as the newest."""
    states = [name for name in _state_names(site, cookies) if name != site.cookie_name(new)]

    def expires(name: str) -> int:
        parts = cookies[name].split(".")
        return _seconds(parts[2]) if len(parts) in (6, 7) else 0

    kept = sorted(states, key=expires, reverse=True)[: _KEPT_STATES - 1]
    return [_delete(site, name) for name in states if name not in kept]


def all_states(site: Site, cookies: dict[str, str]) -> list[str]:
    """Returns `Set-Cookie` values that delete all states."""
    return [_delete(site, name) for name in _state_names(site, cookies)]


def _state_names(site: Site, cookies: dict[str, str]) -> list[str]:
    pattern = re.escape(site.cookie_name("signpost-")) + "[0-9a-f]{16}"
    return [name for name in cookies if re.fullmatch(pattern, name)]


def _delete(site: Site, name: str) -> str:
    return site.set_cookie(name.removeprefix("__Host-"), "", 0)


def _decode(text: str) -> str:
    """Decodes a text part from base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def _seconds(text: str) -> int:
    """Returns the expiry of a state; 0 if it is malformed."""
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else 0


def _mac(key: bytes, session_id: str, text: str) -> str:
    content = f"signpost-state:{session_id}:{text}".encode("utf-8", "replace")
    return encode(hmac.new(key, content, hashlib.sha256).digest())
