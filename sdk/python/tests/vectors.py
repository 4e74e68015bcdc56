"""The vectors that all SDKs share."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from signpost_sdk.decoding import Reply, wire_name
from signpost_sdk.replies import Event

ROOT = Path(__file__).parents[3]


def read(name: str) -> Any:
    """Returns the vectors with this name."""
    return json.loads((ROOT / "vectors" / name).read_text(encoding="utf-8"))


def to_wire(value: Any) -> Any:
    """Returns a decoded reply in its JSON form: with the API's names, without absent members."""
    if isinstance(value, Event) and value.data is None:
        return {**_members(value), "data": value.raw["data"]}
    if isinstance(value, Reply):
        return _members(value)
    if isinstance(value, tuple):
        return [to_wire(item) for item in value]
    return value


def _members(reply: Reply) -> dict[str, Any]:
    kind = type(reply)
    members = {}
    for member in dataclasses.fields(reply):
        value = getattr(reply, member.name)
        absent = value is None or wire_name(kind, member.name) not in reply.raw
        if member.name != "raw" and not absent:
            members[wire_name(kind, member.name)] = to_wire(value)
    return members
