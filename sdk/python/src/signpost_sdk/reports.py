"""Replies about submissions and reports of ATMs, with the names of the API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .decoding import Reply

Finding = Literal["there", "gone", "broken", "wrong_place", "wrong_hours", "other"]
FindingSource = Literal["used", "saw", "asked", "phoned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtmReport(Reply):
    """A report of the state of an ATM."""

    id: str
    atm_id: int
    """After a merge, the ID of the merged ATM."""
    seen: Finding
    how: FindingSource | None = None
    at: str
    state: Literal["new", "shown", "accepted", "rejected", "duplicate", "expired"]
    weight: Literal[1, 3]
    created_at: str
    dry_run: bool | None = None
    """True in the sandbox, which stores nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedLocation(Reply):
    """A location that was not stored. `item` is its position in the submission, from 1."""

    item: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedLocations(Reply):
    """The number of locations that were not stored, and the first of them."""

    total: int
    first: tuple[SkippedLocation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt(Reply):
    """A field that could not be parsed, and is stored as unknown."""

    item: int
    field: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts(Reply):
    """The number of fields that could not be parsed, and the first of them."""

    total: int
    first: tuple[Doubt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedColumns(Reply):
    """The number of fields that were not used, and the first of them."""

    total: int
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionDates(Reply):
    """The dates of the submitted ATMs."""

    newest: str | None = None
    oldest: str | None = None
    undated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome(Reply):
    """The result of a submission."""

    source: str
    dry_run: bool
    """True in the sandbox, which stores nothing."""
    added: int
    changed: int
    unchanged: int
    removed: int
    filtered: int
    """Locations that are not Bitcoin ATMs."""
    skipped: SkippedLocations
    doubts: Doubts
    dates: SubmissionDates | None = None
    columns: Mapping[str, str]
    unused_columns: UnusedColumns
    unused_dates: tuple[str, ...] | None = None
    """Members with dates that were not used, if there are any."""
