"""Calls get_atm_details ten times in parallel with langchain-mcp-adapters, which opens a session for each call. Prints the
requested and the returned IDs as JSON."""

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


def body(content):
    """The JSON of a tool's result."""
    return json.loads(content[0]["text"])


async def main(url):
    client = MultiServerMCPClient({"signpost": {"url": url, "transport": "streamable_http"}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    found = await tools["find_nearest_bitcoin_atm"].ainvoke({"location": "Austin, TX", "limit": 10})
    ids = [atm["id"] for atm in body(found)["atms"]]
    # Fewer than ten may be near.
    ids = (ids * 10)[:10]
    calls = (tools["get_atm_details"].ainvoke({"atmId": id}) for id in ids)
    # An exception is the failure of the call: the adapter does not retry.
    details = await asyncio.gather(*calls)
    print(json.dumps({"requested": ids, "returned": [body(content)["id"] for content in details]}))


asyncio.run(main(*sys.argv[1:]))
