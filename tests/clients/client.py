"""Connects to a server with a Python client and prints the results as JSON."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import fastmcp
import mcp
from fastmcp.exceptions import ToolError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def session(path, url):
    """The client that starts with `initialize`, and the negotiated revision."""
    transport = streamable_http_client(url) if path == "mcp" else sse_client(url)
    async with transport as (incoming, outgoing, *_), mcp.ClientSession(incoming, outgoing) as client:
        yield client, (await client.initialize()).protocol_version


@asynccontextmanager
async def connected(kind, path, url):
    if kind == "session":
        async with session(path, url) as both:
            yield both
    else:
        make = mcp.Client if kind == "client" else fastmcp.Client
        async with make(url) as client:
            yield client, client.protocol_version


async def refusal(client, name, arguments):
    """Returns the error that a model or a program gets for a failed call."""
    try:
        result = await client.call_tool(name, arguments)
    except (ToolError, mcp.MCPError) as error:
        return str(error)
    assert result.is_error, result
    return result.content[0].text


async def main(kind, path, url):
    async with connected(kind, path, url) as (client, revision):
        tools = await client.list_tools()
        found = await client.call_tool("find_nearest_bitcoin_atm", {"location": "Miami, FL", "limit": 3})
        result = {
            "revision": revision,
            "tools": [tool.name for tool in getattr(tools, "tools", tools)],
            "text": found.content[0].text,
            "structured": found.structured_content,
            "no_such_atm": await refusal(client, "get_atm_details", {"atmId": 999999999}),
            "no_such_tool": await refusal(client, "no_such_tool", {}),
        }
    print(json.dumps(result))


asyncio.run(main(*sys.argv[1:]))
