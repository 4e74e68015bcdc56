"""Signpost: people log in with a wallet or a passkey, and find Bitcoin ATMs."""

from .calls import UNSET
from .client import DEFAULT_BASE_URL, AsyncSignpost, Signpost
from .core import VERSION as __version__
from .errors import SignpostError
from .locator import Advisory, Atm, AtmDetails, AtmStatus, CityAtms, NearestAtms, SeveralAtms
from .replies import (
    CreatedSession,
    Credential,
    Delivery,
    Domain,
    Event,
    EventData,
    HostedUser,
    RefreshedSession,
    RegisteredDomain,
    Session,
    SessionUser,
    Simulation,
    UserEventData,
    Verification,
)
from .steps import AsyncTransport, HttpReply, HttpRequest, Transport

__all__ = [
    "DEFAULT_BASE_URL",
    "UNSET",
    "Advisory",
    "AsyncSignpost",
    "AsyncTransport",
    "Atm",
    "AtmDetails",
    "AtmStatus",
    "CityAtms",
    "CreatedSession",
    "Credential",
    "Delivery",
    "Domain",
    "Event",
    "EventData",
    "HostedUser",
    "HttpReply",
    "HttpRequest",
    "NearestAtms",
    "RefreshedSession",
    "RegisteredDomain",
    "Session",
    "SessionUser",
    "SeveralAtms",
    "Signpost",
    "SignpostError",
    "Simulation",
    "Transport",
    "UserEventData",
    "Verification",
    "__version__",
]
