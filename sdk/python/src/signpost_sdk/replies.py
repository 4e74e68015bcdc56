"""Replies of the login service, with the names of the API. Times are RFC 3339 texts in UTC.

The JSON object of each reply is `raw`; it also contains members that are newer than this version. Unknown values of an
enumeration are passed on unchanged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from .decoding import Reply, decode

Mode = Literal["login", "register", "link"]
Status = Literal["pending", "authenticated", "expired", "cancelled"]
LoginMethod = Literal["scan", "browser", "lightning", "passkey"]
DeliveryState = Literal["pending", "delivered", "failed"]
Handler = Literal["direct", "hosted"]
Registration = Literal["open", "closed"]
ClientAuthMethod = Literal["client_secret_basic", "client_secret_post", "any"]
SigningAlgorithm = Literal["RS256", "ES256"]
EmailClaim = Literal["synthetic", "none", "verified"]
CredentialKind = Literal["wallet", "lightning", "passkey"]
UserEventKind = Literal["user.updated", "user.deleted", "credential.added", "credential.removed", "user.signed_out"]
EventKind = Literal[Mode, UserEventKind]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshedSession(Reply):
    """A session with a new code."""

    id: str
    domain_id: str | None = None
    """None if the service is older than this version."""
    challenge: str
    qr_data: str
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSession(RefreshedSession):
    """A session that was just created. `client_secret` is only in this reply."""

    status: Literal["pending"]
    created_at: str
    client_secret: str | None = field(default=None, repr=False)
    confirm_code: str | None = None
    """The number to show on the page."""
    page_url: str | None = None
    """With `flow="page"`: the URL to redirect the browser to."""
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device(Reply):
    """A wallet's device, as reported by the wallet."""

    platform: str | None = None
    version: str | None = None
    device_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUser(Reply):
    """The user or key that authenticated a session. `id` is set only for hosted domains."""

    id: str | None = None
    public_key: str
    device_info: Device
    username: str | None = None
    """This and the next five members are None in lists, for domains with a direct handler, and for deleted users."""
    name: str | None = None
    groups: tuple[str, ...] | None = None
    external_id: str | None = None
    """The ID of the user in your own database."""
    metadata: Mapping[str, Any] | None = None
    credential_count: int | None = None
    is_new: bool | None = None
    """Whether this session created the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnySession(Reply):
    """The members of sessions in single replies and in lists."""

    id: str
    domain_id: str | None = None
    status: Status
    expires_at: str | None = None
    authenticated_at: str | None = None
    user: SessionUser | None = None
    method: LoginMethod | None = None
    metadata: Mapping[str, Any] | None = None
    redirect: str | None = None
    """The URL for the wallet to open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(AnySession):
    """A login attempt."""

    mode: Mode | None = None
    """With `flow="page"`, the user may change it."""


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
    """The request that the simulated wallet posted, its URL, and the response."""

    public_key: str
    posted_to: str
    payload: Mapping[str, Any]
    status: int | None = None
    body: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Reply):
    """The result of a signature check."""

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
    events: tuple[EventKind, ...] = ()
    """The kinds of events that are sent beside test events; empty if the service is older than this version."""
    event_url: str | None = None
    verified_at: str | None = None
    last_checked_at: str | None = None
    failing_since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredDomain(Domain):
    """A domain that was just registered. `webhook_secret` is only in this reply."""

    webhook_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedDomain(Reply):
    """A domain with a valid proof of ownership."""

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
    """A user of a hosted domain. `public_key` is the key of the newest wallet."""

    id: str
    petname: str
    """The generated name, which never changes."""
    username: str
    """The username that you set, or else the petname."""
    external_id: str | None = None
    """The ID of the user in your own database."""
    email: str | None = None
    """In lower case. The service does not verify it."""
    metadata: Mapping[str, Any] | None = None
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
class SignIn(Reply):
    """A place where a user is signed in: a browser at the login page, or an application."""

    id: str
    kind: Literal["browser", "grant"]
    client_id: str | None = None
    """The application; only for a grant."""
    created_at: str
    last_used_at: str
    user_agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInList(Reply):
    """A page of sign-ins."""

    sign_ins: tuple[SignIn, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Client(Reply):
    """An application that users of a hosted domain log in to by OpenID Connect."""

    client_id: str
    name: str | None = None
    issuer: str
    public: bool
    """Whether the client has no secret."""
    redirect_uris: tuple[str, ...]
    post_logout_uris: tuple[str, ...]
    alg: SigningAlgorithm
    email: EmailClaim
    pkce: bool
    trusted: bool
    allow: tuple[str, ...] | None = None
    token_endpoint_auth_method: ClientAuthMethod | None = None
    created_at: str
    previous_secret_until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientWithSecret(Client):
    """A client that was just created or got a new secret. `client_secret` is only in this reply."""

    client_secret: str | None = field(default=None, repr=False)
    """None for a public client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientList(Reply):
    """A page of clients, oldest first."""

    clients: tuple[Client, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebauthnProof(Reply):
    """The data that a passkey signed, both members in base64url."""

    authenticator_data: str
    client_data_json: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventData(Reply):
    """The signed proof in an event."""

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
class UserEventData(Reply):
    """A change of a user. The members after `external_id` depend on the kind of event."""

    user_id: str
    external_id: str | None = None
    changes: Mapping[str, Any] | None = None
    """In `user.updated`: the changed members by name, each with `old` and `new`."""
    credential_id: str | None = None
    """In `credential.added` and `credential.removed`, with `kind` and `public_key`."""
    kind: CredentialKind | None = None
    public_key: str | None = None
    everywhere: bool | None = None
    """In `user.signed_out`: whether all browsers and applications were signed out."""
    sign_in_id: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Reply):
    """An event. `event` is an `EventKind`, `test`, or a kind that is newer than this version.

    `data` is the proof, or None for kinds without a proof; `raw["data"]` always has the original.
    """

    id: str = ""
    """Identical for every attempt; empty if the sender implements only the specification."""
    event: str
    timestamp: str
    session_id: str
    data: EventData | None = None

    @classmethod
    def left_out(cls, value: Mapping[str, Any]) -> tuple[str, ...]:
        """Skips `data` for kinds that prove no key."""
        return () if value.get("event") in ("login", "register", "link") else ("data",)

    @property
    def identity(self) -> str:
        """The identity of the event, for deduplication: its id, else its session and kind."""
        return self.id or f"{self.session_id}:{self.event}"

    @property
    def user(self) -> UserEventData | None:
        """The change of a user, or None for other kinds. The `ValueError` names a member that is missing."""
        return decode(UserEventData, self.raw.get("data")) if self.event in get_args(UserEventKind) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Reply):
    """An event for a URL. `body` is set only in the reply for a single delivery."""

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
    """The number of deliveries that are retried."""

    retried: int
