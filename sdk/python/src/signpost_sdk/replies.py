"""What the login service replies, with the names of the API. Times are RFC 3339 texts in UTC.

Each reply keeps the JSON object that it was read from as `raw`, so that members which came after this version are
within reach. A word of an enumeration that came later is passed on as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .decoding import Reply

Mode = Literal["login", "register", "link"]
Status = Literal["pending", "authenticated", "expired", "cancelled"]
LoginMethod = Literal["scan", "browser", "lightning", "passkey"]
DeliveryState = Literal["pending", "delivered", "failed"]
Handler = Literal["direct", "hosted"]
Registration = Literal["open", "closed"]
CredentialKind = Literal["wallet", "lightning", "passkey"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshedSession(Reply):
    """A session with a new code."""

    id: str
    challenge: str
    qr_data: str
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSession(RefreshedSession):
    """A session that was just created. Nothing else shows its `client_secret`."""

    status: Literal["pending"]
    created_at: str
    client_secret: str | None = field(default=None, repr=False)
    confirm_code: str | None = None
    """The number for the page to show."""
    page_url: str | None = None
    """With `flow="page"`: where to send the browser."""
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device(Reply):
    """What a wallet says of its device."""

    platform: str | None = None
    version: str | None = None
    device_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUser(Reply):
    """Who answered. `id` only at hosted domains."""

    id: str | None = None
    public_key: str
    device_info: Device


@dataclass(frozen=True, slots=True, kw_only=True)
class AnySession(Reply):
    """What sessions have wherever they are."""

    id: str
    status: Status
    expires_at: str | None = None
    authenticated_at: str | None = None
    user: SessionUser | None = None
    method: LoginMethod | None = None
    metadata: Mapping[str, Any] | None = None
    redirect: str | None = None
    """For the wallet to open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(AnySession):
    """A login attempt."""

    mode: Mode | None = None
    """With `flow="page"`, where the person may change it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession(AnySession):
    """A session in a list."""

    domain: str
    mode: Mode
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList(Reply):
    """A page of sessions, newest first."""

    sessions: tuple[ListedSession, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation(Reply):
    """What the sandbox's wallet posted where, and the response."""

    public_key: str
    posted_to: str
    payload: Mapping[str, Any]
    status: int | None = None
    body: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Reply):
    """Whether a signature verifies."""

    valid: bool
    public_key: str
    message_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDomain(Reply):
    """A domain in a list."""

    id: str
    domain: str
    verified: bool
    webhook_url: str
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainList(Reply):
    """A page of domains, oldest first."""

    domains: tuple[ListedDomain, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain(ListedDomain):
    """A domain."""

    verification_token: str
    handler: Handler
    methods: tuple[LoginMethod, ...]
    registration: Registration
    display_name: str | None = None
    event_url: str | None = None
    verified_at: str | None = None
    last_checked_at: str | None = None
    failing_since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredDomain(Domain):
    """A domain that was just registered. Nothing else shows its `webhook_secret`."""

    webhook_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedDomain(Reply):
    """A domain whose proof was found."""

    id: str
    domain: str
    verified: Literal[True]
    verified_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential(Reply):
    """A key that logs a user in."""

    id: str
    kind: CredentialKind
    public_key: str
    name: str
    added_at: str
    last_used_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedUser(Reply):
    """A user of a hosted domain. `public_key` is that of the newest wallet."""

    id: str
    petname: str
    name: str | None = None
    groups: tuple[str, ...] | None = None
    created_at: str
    last_login_at: str | None = None
    public_key: str | None = None
    credentials: tuple[Credential, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserList(Reply):
    """A page of users, oldest first."""

    users: tuple[HostedUser, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebauthnProof(Reply):
    """What a passkey signed, both in base64url."""

    authenticator_data: str
    client_data_json: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventData(Reply):
    """The proof that an event repeats."""

    public_key: str
    signature: str
    challenge: str
    signed_message: str | None = None
    signed_at: int
    device_info: Device = field(default_factory=Device)
    user_id: str | None = None
    method: LoginMethod | None = None
    webauthn: WebauthnProof | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Reply):
    """What happened. `event` is `login`, `register`, `link`, `test`, or a word that came later.

    `data` is the proof where a key was proven, else None; `raw["data"]` is always what came.
    """

    id: str = ""
    """The same on every attempt; empty from a sender that knows only the specification."""
    event: str
    timestamp: str
    session_id: str
    data: EventData | None = None

    @classmethod
    def left_out(cls, value: Mapping[str, Any]) -> tuple[str, ...]:
        """Other kinds prove no key."""
        return () if value.get("event") in ("login", "register", "link") else ("data",)

    @property
    def identity(self) -> str:
        """What tells this event from all others."""
        return self.id or f"{self.session_id}:{self.event}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Reply):
    """An event for one URL. `body` is in the reply for a single delivery alone."""

    id: str
    domain_id: str
    url: str
    state: DeliveryState
    attempts: int
    created_at: str
    next_attempt_at: str
    ended_at: str | None = None
    last_status: int | None = None
    last_error: str | None = None
    last_answer: str | None = None
    endpoint_disabled_at: str | None = None
    body: Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryList(Reply):
    """A page of deliveries, newest first."""

    deliveries: tuple[Delivery, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried(Reply):
    """How many deliveries are retried."""

    retried: int
