"""The site's origin, its cookies, and the state of a login that is under way."""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import get_args
from urllib.parse import quote, urlsplit

from .core import refuse
from .replies import Mode

STATE_SECONDS = 1800
"""How long a browser has to come back, and keeps the cookie of a code that it was shown."""
_KEPT_STATES = 3


@dataclass(frozen=True, slots=True)
class Site:
    """Where people see the site. Plain http is for one's own machine: `__Host-` cookies need https."""

    origin: str

    @classmethod
    def parse(cls, text: str) -> "Site":
        """Reads an origin; a slash at its end is dropped."""
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

    def cookie_name(self, name: str) -> str:
        """The name with its prefix."""
        return f"__Host-{name}" if self.origin.startswith("https:") else name

    def set_cookie(self, name: str, value: str, max_age: int) -> str:
        """A `Set-Cookie` value; `name` without the prefix."""
        secure = "; Secure" if self.origin.startswith("https:") else ""
        return f"{self.cookie_name(name)}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}"

    def read_cookie(self, header: str | None, name: str) -> str | None:
        """The value in a `Cookie` header; `name` without the prefix.

        None if there is no such cookie, or more than one: somebody else has set one of them.
        """
        values = cookie_values(header or "", self.cookie_name(name))
        return values[0] if len(values) == 1 and values[0] else None


def read_cookies(header: str) -> dict[str, str]:
    """The cookies of a `Cookie` header, in its order."""
    cookies: dict[str, str] = {}
    for pair in header.split(";"):
        name, equals, value = pair.strip(" ").partition("=")
        if equals:
            cookies.setdefault(name, value)
    return cookies


def cookie_values(header: str, name: str) -> list[str]:
    """The values of all cookies of this name. Who can set one for a domain above can put it in front of ours."""
    pairs = (pair.strip(" ").partition("=") for pair in header.split(";"))
    return [value for found, equals, value in pairs if equals and found == name]


def is_local_path(text: str) -> bool:
    """Whether a browser stays on the site with this path."""
    leaves = text.startswith(("//", "/\\")) or any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text)
    return text.startswith("/") and not leaves


def as_location(path: str) -> str:
    """The path or URL as a header may have it. What is percent-encoded already stays so."""
    return quote(path, safe="!#$%&'()*+,/:;=?@[]~", errors="replace")


def is_web_page(url: str) -> bool:
    """Whether it is an address on the web, as a browser may be sent to."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    has_gaps = any(letter <= " " or "\x7f" <= letter < "\xa0" for letter in url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not has_gaps


def encode(content: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def browser_hash(secret: str) -> str:
    """What the service keeps of a browser's secret."""
    return encode(hashlib.sha256(secret.encode()).digest())


def cookie_of(kind: str, session_id: str) -> str:
    """The name of this session's cookie, without the prefix."""
    return f"{kind}-{hashlib.sha256(session_id.encode('utf-8', 'replace')).digest()[:8].hex()}"


@dataclass(frozen=True, slots=True)
class State:
    """What the cookie of a login says: who may come back until when, and where the person goes on to."""

    secret: str
    expires: int
    mode: Mode
    next: str
    user: str | None = None
    """The user who began a link; None for every other mode."""

    def seal(self, session_id: str, key: bytes) -> str:
        """The cookie's value."""
        text = f"v1.{self.secret}.{self.expires}.{self.mode}.{encode(self.next.encode())}"
        if self.user is not None:
            text = f"{text}.{encode(self.user.encode())}"
        return f"{text}.{_mac(key, session_id, text)}"

    @classmethod
    def open(cls, value: str, session_id: str, key: bytes, now: float) -> "State | None":
        """The state, if it is this session's, signed here and not over."""
        text, _, mac = value.rpartition(".")
        if not hmac.compare_digest(mac.encode("utf-8", "replace"), _mac(key, session_id, text).encode()):
            return None
        try:
            _, secret, expires, mode, target, *rest = text.split(".")
            path, users = _decode(target), [_decode(part) for part in rest]
            known = next((word for word in get_args(Mode) if word == mode), None)
            ends = _seconds(expires)
            if ends <= now or known is None or len(users) != (known == "link"):
                return None
            return cls(secret, ends, known, path if is_local_path(path) else "/", users[0] if users else None)
        except (ValueError, binascii.Error):
            return None


def surplus_states(site: Site, cookies: dict[str, str], new: str) -> list[str]:
    """`Set-Cookie` values that clear all states but the newest, of which the one named `new` is the first."""
    prefix = site.cookie_name("signpost-")
    states = [
        name for name in cookies if re.fullmatch(f"{prefix}[0-9a-f]{{16}}", name) and name != site.cookie_name(new)
    ]

    def expires(name: str) -> int:
        parts = cookies[name].split(".")
        return _seconds(parts[2]) if len(parts) in (6, 7) else 0

    kept = sorted(states, key=expires, reverse=True)[: _KEPT_STATES - 1]
    bare = len(prefix) - len("signpost-")
    return [site.set_cookie(name[bare:], "", 0) for name in states if name not in kept]


def _decode(text: str) -> str:
    """The text of a part in base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def _seconds(text: str) -> int:
    """The time that a state says; 0 if nobody can read it."""
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else 0


def _mac(key: bytes, session_id: str, text: str) -> str:
    content = f"signpost-state:{session_id}:{text}".encode("utf-8", "replace")
    return encode(hmac.new(key, content, hashlib.sha256).digest())
