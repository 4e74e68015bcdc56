"""The types have exactly the members of openapi.yaml and of the locator's output schemas."""

import dataclasses
import json
import os
import types
import typing
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin
from urllib.request import Request, urlopen

import pytest
import yaml

from signpost_sdk import errors, locator, replies, reports
from signpost_sdk.decoding import Reply, wire_name

from .conftest import Server
from .vectors import ROOT

SCHEMAS = {
    "RefreshedSession": replies.RefreshedSession,
    "CreatedSession": replies.CreatedSession,
    "Session": replies.Session,
    "SessionList": replies.SessionList,
    "Simulation": replies.Simulation,
    "Verification": replies.Verification,
    "ListedDomain": replies.ListedDomain,
    "DomainList": replies.DomainList,
    "Domain": replies.Domain,
    "RegisteredDomain": replies.RegisteredDomain,
    "ProvedDomain": replies.ProvedDomain,
    "UserList": replies.UserList,
    "HostedUser": replies.HostedUser,
    "SignIn": replies.SignIn,
    "SignInList": replies.SignInList,
    "Credential": replies.Credential,
    "Delivery": replies.Delivery,
    "DeliveryList": replies.DeliveryList,
    "Retried": replies.Retried,
    "EventData": replies.EventData,
    "UserEventData": replies.UserEventData,
    "Device": replies.Device,
    "Client": replies.Client,
    "ClientWithSecret": replies.ClientWithSecret,
    "ClientList": replies.ClientList,
    "MachineReport": reports.AtmReport,
    "ImportOutcome": reports.ImportOutcome,
}
OPTIONAL = {
    "Domain.events",  # missing if the service is older
    "RegisteredDomain.events",
    "EventData.device_info",  # missing if the sender implements only the specification
    "RefreshedSession.domain_id",  # missing if the service is older
    "CreatedSession.domain_id",
}
TOOLS = {
    "find_nearest_bitcoin_atm": locator.NearestAtms,
    "get_atm_details": locator.AtmDetails,
    "check_atm_status": locator.AtmStatus,
    "list_atms_by_city": locator.CityAtms,
}

# The members that all details have.
DETAILS = ["id", "name", "status", "statusReason", "freshness", "address", "lat", "lon", "sources", "attribution"]


@pytest.fixture(scope="module")
def document() -> Any:
    if path := os.environ.get("OPENAPI_JSON"):
        return json.loads(Path(path).read_text(encoding="utf-8"))
    return yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_reply_matches_its_schema(document: Any, name: str) -> None:
    schema = flat(document, {"$ref": f"#/components/schemas/{name}"})
    assert problems(document, schema, SCHEMAS[name], name) == []


@pytest.mark.parametrize("name", TOOLS)
def test_locator_result_matches_its_schema(server: Server, name: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    with urlopen(Request(f"{server.origin}/mcp", body, {"content-type": "application/json"})) as reply:
        tools = {tool["name"]: tool["outputSchema"] for tool in json.load(reply)["result"]["tools"]}
    assert set(tools) == set(TOOLS)
    schema = tools[name]
    if name == "get_atm_details":
        members = dict(schema["properties"])
        assert {members.pop(several)["type"] for several in ("atms", "notFound")} == {"array"}
        # The schema is for the details of one ATM and of several, so it requires no member.
        schema = schema | {"properties": members, "required": DETAILS}
    assert problems({}, schema, TOOLS[name], name) == []


def test_each_code_has_an_error_class(document: Any) -> None:
    schema = flat(document, document["components"]["schemas"]["Error"]["properties"]["error"])
    codes = set(schema["properties"]["code"]["enum"])
    classes = errors._SUBCLASSES
    assert codes - classes.keys() == set()
    for code, kind in classes.items():
        name = kind.__name__.removesuffix("Error").lower()
        assert name in (code.replace("_", ""), code.replace("_", "").removesuffix("error"), "requesttimeout"), code
        assert getattr(errors, kind.__name__) is kind and kind.__doc__


def test_schema_differences_are_found(document: Any) -> None:
    schema = flat(document, {"$ref": "#/components/schemas/Session"})
    members = schema["properties"]
    for name, change in {
        "a missing member": {"properties": members | {"later": {"type": "string"}}},
        "an extra field": {"properties": {key: value for key, value in members.items() if key != "expires_at"}},
        "a field of another type": {"properties": members | {"expires_at": {"type": "integer"}}},
        "a required field": {"required": [*schema["required"], "expires_at"]},
        "another word": {"properties": members | {"status": {"type": "string", "enum": ["pending", "later"]}}},
    }.items():
        assert problems(document, schema | change, replies.Session, "Session"), name


def problems(document: Any, schema: Any, reply: type[Reply], where: str) -> list[str]:
    """Returns the differences between a schema and a dataclass, in both directions."""
    hints, found = typing.get_type_hints(reply), []
    own = {wire_name(reply, member.name): member for member in dataclasses.fields(reply) if member.name != "raw"}
    members = schema.get("properties", {})
    found += [f"{where}.{name} is not there" for name in members.keys() - own.keys()]
    if set(members) != {"lat", "lon"} and members:  # the locator's schema allows more members of a place
        found += [f"{where}.{name} is superfluous" for name in own.keys() - members.keys()]
    for name in members.keys() & own.keys():
        kind, member = hints[own[name].name], own[name]
        if get_origin(kind) in (Union, types.UnionType):
            kind = next(argument for argument in get_args(kind) if argument is not types.NoneType)
        optional = member.default is not dataclasses.MISSING or member.default_factory is not dataclasses.MISSING
        if optional == (name in schema.get("required", [])) and f"{where}.{name}" not in OPTIONAL:
            found.append(f"{where}.{name} is {'optional' if optional else 'required'} here and not there")
        found += compare(document, flat(document, members[name]), kind, f"{where}.{name}")
    return found


def compare(document: Any, schema: Any, kind: Any, where: str) -> list[str]:
    origin = get_origin(kind)
    if origin is Literal:
        words = [schema["const"]] if "const" in schema else schema.get("enum")
        return [] if set(get_args(kind)) == set(words or []) else [f"{where}: {get_args(kind)} here, {words} there"]
    if kind is replies.Event:
        return [] if "oneOf" in schema else [f"{where} is no event there"]
    expected = schema.get("type")
    if isinstance(expected, list):
        expected = next(word for word in expected if word != "null")
    if origin is tuple:
        inner = flat(document, schema.get("items", {}))
        return (
            [f"{where}: {expected} there"]
            if expected != "array"
            else compare(document, inner, get_args(kind)[0], where)
        )
    if isinstance(kind, type) and issubclass(kind, Reply):
        return problems(document, schema, kind, where) if expected == "object" else [f"{where}: {expected} there"]
    name = {str: "string", int: "integer", float: "number", bool: "boolean"}.get(kind, "object")
    closed = "enum" in schema or "const" in schema
    return [] if name == expected and not closed else [f"{where}: {kind} here, {schema} there"]


def flat(document: Any, schema: Any) -> dict[str, Any]:
    """Returns the schema with its references resolved."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    merged: dict[str, Any] = {"properties": {}, "required": []}
    for part in [*(flat(document, item) for item in schema.get("allOf", [])), schema]:
        merged["properties"] |= part.get("properties", {})
        merged["required"] = [*merged["required"], *part.get("required", [])]
        merged |= {name: value for name, value in part.items() if name not in ("properties", "required", "allOf")}
    return merged
