"""Calls get_atm_details ten times in parallel with the official Python client, in one session or in a session for each
call. Prints the requested and the returned IDs as JSON."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import mcp
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def connected(kind, path, url):
    if kind == "client":
        async with mcp.Client(url) as client:
            yield client
        return
    transport = streamable_http_client(url) if path == "mcp" else sse_client(url)
    async with transport as (incoming, outgoing, *_), mcp.ClientSession(incoming, outgoing) as client:
        await client.initialize()
        yield client


async def details(client, id):
    result = await client.call_tool("get_atm_details", {"atmId": id})
    assert not result.is_error, result
    return result.structured_content["id"]


async def in_own_session(kind, path, url, id):
    async with connected(kind, path, url) as client:
        return await details(client, id)


async def main(kind, path, url, sessions):
    async with connected(kind, path, url) as client:
        found = await client.call_tool("find_nearest_bitcoin_atm", {"location": "Austin, TX", "limit": 10})
        ids = [atm["id"] for atm in found.structured_content["atms"]]
        # Fewer than ten may be near.
        ids = (ids * 10)[:10]
        if sessions == "one":
            returned = await asyncio.gather(*(details(client, id) for id in ids))
    if sessions == "ten":
        returned = await asyncio.gather(*(in_own_session(kind, path, url, id) for id in ids))
    print(json.dumps({"requested": ids, "returned": returned}))


asyncio.run(main(*sys.argv[1:]))
