"""Simulates the service of vectors/client.json, with equal replies for every SDK: `python3 sdk/replies.py vectors/client.json`.

Prints one line of JSON, from the name of each case to its port, and runs until its standard input ends. A port sends the
replies of its case in order, and then 500. `GET /seen` lists the requests, `{method, path, headers,
body}` with header names in lower case; the body is JSON if it can be parsed, else text.
"""

import asyncio
import json
import sys

MAX_BODY = 1 << 20
REASONS = {200: "OK", 201: "Created", 204: "No Content", 302: "Found"}


async def read_request(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await read_chunks(reader)
    else:
        body = await reader.readexactly(min(int(headers.get("content-length", 0)), MAX_BODY))
    text = body.decode("utf-8", "replace")
    try:
        content = json.loads(text) if text else None
    except ValueError:
        content = text
    return {"method": method, "path": path, "headers": headers, "body": content}


async def read_chunks(reader):
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
        if len(body) > MAX_BODY:
            raise ValueError("too long a body")
    await reader.readline()
    return body


def response(status, headers, text):
    body = text.encode()
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Said')}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n", body


def play(case):
    replies, seen = iter(case["replies"]), []

    async def answer(reader, writer):
        try:
            request = await read_request(reader)
            if request["path"] == "/seen":
                writer.write(b"".join(response(200, {"Content-Type": "application/json"}, json.dumps(seen))))
            else:
                seen.append(request)
                say(writer, next(replies, {"status": 500, "text": "no more replies"}))
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ValueError):
            # No reply to a client that sends nothing more, or is still connected at the end.
            pass
        finally:
            writer.close()

    return answer


def say(writer, reply):
    text = json.dumps(reply["json"]) if "json" in reply else reply.get("text", "") * reply.get("times", 1)
    headers = {"Content-Type": "application/json"} if "json" in reply else {}
    head, body = response(reply.get("status", 200), headers | reply.get("headers", {}), text)
    cut = reply.get("cut")
    if cut == "before":
        # A reset instead of an ordinary end, as after a crash of the peer.
        writer.transport.abort()
    elif cut == "inside":
        writer.write(head + body[: len(body) // 2])
    elif cut is None:
        writer.write(head + body)
    else:
        raise ValueError(f"no such cut: {cut}")


async def main(file):
    with open(file, encoding="utf-8") as opened:
        cases = json.load(opened)["cases"]
    servers = {case["name"]: await asyncio.start_server(play(case), "127.0.0.1", 0) for case in cases}
    print(json.dumps({name: server.sockets[0].getsockname()[1] for name, server in servers.items()}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
