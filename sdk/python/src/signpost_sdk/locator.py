"""Replies of the locator about Bitcoin ATMs. Its camelCase members have snake_case names here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .decoding import LocatorReply

AtmStatusWord = Literal["open", "closed", "temporarily_closed", "permanently_closed", "out_of_service", "unknown"]
YesNo = Literal["yes", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisory(LocatorReply):
    """A legal or fraud notice for a place, to be shown to users."""

    id: str
    kind: str
    text: str
    effective: str | None = None
    checked: str | None = None
    source_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedLocation(LocatorReply):
    """The interpretation of `location`. `confidence` is from 0 to 1; `dropped` are parts of the text that were not used."""

    name: str | None = None
    county: str | None = None
    region: str | None = None
    country: str | None = None
    lat: float | None = None
    lon: float | None = None
    source: str | None = None
    confidence: float | None = None
    dropped: tuple[str, ...] = ()
    alternatives: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Atm(LocatorReply):
    """An ATM in a list."""

    id: int
    name: str
    distance: str
    distance_meters: int
    status: AtmStatusWord
    status_as_of: str | None = None
    status_reason: str | None = None
    address: str
    lat: float
    lon: float
    url: str | None = None
    """The page of the ATM."""
    directions: str | None = None
    """The URL of a map service with directions, in the first ten ATMs."""
    last_confirmed: str | None = None
    """When a source or a report last confirmed the ATM."""
    phone: str | None = None
    fees: Mapping[str, Any] | None = None
    limits: Mapping[str, Any] | None = None
    hours: str | None = None
    operator: str | None = None
    opens_at: str | None = None
    closes_at: str | None = None
    reports: str | None = None
    """A summary of users' reports, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CityAtms(LocatorReply):
    """The ATMs of a city, by id, in pages of 50."""

    atms: tuple[Atm, ...]
    total: int
    truncated: bool
    attribution: tuple[str, ...]
    data_as_of: str | None = None
    """The date of the newest listed ATM."""
    oldest_data_as_of: str | None = None
    """Set if the oldest listed ATM is more than a year older."""
    notice: str | None = None
    """Must be shown before the list."""
    how_to_report: str | None = None
    """How people report an ATM that is gone or wrong."""
    advisories: tuple[Advisory, ...] = ()
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestAtms(LocatorReply):
    """The ATMs near a place, nearest first."""

    atms: tuple[Atm, ...]
    total: int
    truncated: bool
    attribution: tuple[str, ...]
    data_as_of: str | None = None
    """The date of the newest listed ATM."""
    oldest_data_as_of: str | None = None
    """Set if the oldest listed ATM is more than a year older."""
    notice: str | None = None
    """Must be shown before the list."""
    how_to_report: str | None = None
    """How people report an ATM that is gone or wrong."""
    advisories: tuple[Advisory, ...] = ()
    resolved_location: ResolvedLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AtmStatus(NearestAtms):
    """The ATMs of an area, and their number by status."""

    counts: Mapping[str, int]
    as_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AtmSource(LocatorReply):
    """The source of a part of a record."""

    atm_id: int | None = None
    name: str | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AtmDetails(LocatorReply):
    """The details of an ATM."""

    id: int
    name: str
    address: str
    lat: float
    lon: float
    status: AtmStatusWord
    status_reason: str
    status_as_of: str | None = None
    freshness: Literal["live", "recent", "aging", "stale", "never"]
    attribution: tuple[str, ...]
    sources: tuple[AtmSource, ...]
    advisories: tuple[Advisory, ...] = ()
    notice: str | None = None
    address_parts: Mapping[str, Any] | None = None
    brand: str | None = None
    brand_wikidata: str | None = None
    buy: YesNo | None = None
    sell: YesNo | None = None
    coins: Mapping[str, Any] | None = None
    fees: Mapping[str, Any] | None = None
    fiat: tuple[str, ...] | None = None
    hours: str | None = None
    opens_at: str | None = None
    closes_at: str | None = None
    images: tuple[str, ...] | None = None
    kyc: Literal["none", "phone", "id"] | None = None
    limits: Mapping[str, Any] | None = None
    url: str | None = None
    """The page of the ATM."""
    directions: str | None = None
    """The URL of a map service with directions."""
    last_confirmed: str | None = None
    """When a source or a report last confirmed the ATM."""
    listed: bool | None = None
    """False if its source removed the ATM in the last 90 days."""
    how_to_report: str | None = None
    """How people report that the ATM is gone or wrong."""
    located_in: str | None = None
    machine: Mapping[str, Any] | None = None
    network: str | None = None
    operator: str | None = None
    operator_notice: str | None = None
    phone: str | None = None
    email: str | None = None
    website: str | None = None
    placement: Mapping[str, Any] | None = None
    support_hours: str | None = None
    time_zone: str | None = None
    trades: Mapping[str, Any] | None = None
    verified_at: str | None = None
    end_date: str | None = None
    verified_by: str | None = None
    reports: Mapping[str, Any] | None = None
    wheelchair: YesNo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralAtms(LocatorReply):
    """The details of several ATMs."""

    atms: tuple[AtmDetails, ...]
    not_found: tuple[int, ...]
    """The unknown IDs."""
    notice: str | None = None
    """Must be shown before the ATMs."""
    how_to_report: str | None = None
    """How people report an ATM that is gone or wrong."""
    advisories: tuple[Advisory, ...] = ()
