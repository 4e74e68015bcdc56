"""Answers a login code with the Python library for Lightning wallets, and prints the result as JSON."""

import asyncio
import json
import sys

import lnurl
from lnurl.helpers import lnurlauth_derive_linking_key


async def main(code, seed):
    asked = await lnurl.handle(code)
    reply = await lnurl.execute_login(asked, seed=seed)
    _, key = lnurlauth_derive_linking_key(seed=seed, domain=asked.callback.host)
    print(json.dumps({"host": asked.callback.host, "key": key.hex(), **reply.model_dump(mode="json")}))


asyncio.run(main(*sys.argv[1:]))
