"""Decoding of replies."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The base of all replies."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The original JSON object."""

    @classmethod
    def left_out(cls, value: Mapping[str, Any]) -> tuple[str, ...]:
        """Names the members to skip for this object."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatorReply(Reply):
    """The base of the locator's replies; camelCase members have snake_case names here."""


Mcp = TypeVar("Mcp", bound=LocatorReply)


def decode(reply_type: type[T], value: Any) -> T:
    """Decodes a reply. The `ValueError` names the member that is missing or has the wrong type."""
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    members: dict[str, Any] = {"raw": value}
    left_out = reply_type.left_out(value) if issubclass(reply_type, Reply) else ()
    for name, wire, kind, required in _members(reply_type):
        if value.get(wire) is not None and name not in left_out:
            members[name] = _read(kind, value[wire], wire)
        elif required:
            raise ValueError(f"{wire} is missing")
    return reply_type(**members)


_MEMBERS: dict[type[Any], tuple[tuple[str, str, Any, bool], ...]] = {}


def _members(reply_type: type[Any]) -> tuple[tuple[str, str, Any, bool], ...]:
    if reply_type in _MEMBERS:
        return _MEMBERS[reply_type]
    kinds, members = get_type_hints(reply_type), []
    for member in fields(reply_type):
        if member.name != "raw":
            required = member.default is MISSING and member.default_factory is MISSING
            members.append((member.name, wire_name(reply_type, member.name), kinds[member.name], required))
    _MEMBERS[reply_type] = tuple(members)
    return _MEMBERS[reply_type]


def wire_name(reply_type: type[Any], name: str) -> str:
    """Returns the member's name in JSON."""
    if not issubclass(reply_type, LocatorReply):
        return name
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _read(kind: Any, value: Any, name: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _read(next(argument for argument in arguments if argument is not types.NoneType), value, name)
    if origin is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{name} is no array")
        return tuple(_read(arguments[0], item, name) for item in value)
    if origin is Literal:
        kind = type(arguments[0])
    elif origin is not None:
        kind = dict
    if isinstance(kind, type) and issubclass(kind, Reply):
        return decode(kind, value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"{name} is of another type")
    return value
