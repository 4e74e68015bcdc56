"""Transports by httpx2, for proxies, HTTP/2 or an async connection pool: `pip install signpost-sdk[httpx]`.

    client = AsyncSignpost(key, transport=AsyncHttpxTransport(httpx2.AsyncClient()))

The client is yours: configure and close it yourself. It applies `timeout` to each read, not to the whole exchange, so a
slow response to `HttpxTransport` can take longer. `AsyncSignpost` bounds the whole exchange.
"""

import time

import httpx2

from .steps import MAX_REPLY, HttpReply, HttpRequest


class HttpxTransport:
    """A transport for `Signpost`."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def __call__(self, request: HttpRequest) -> HttpReply:
        deadline, body = time.monotonic() + request.timeout, bytearray()
        try:
            with self._client.stream(
                request.method,
                request.url,
                headers=dict(request.headers),
                content=request.body,
                timeout=request.timeout,
                follow_redirects=False,
            ) as response:
                for chunk in response.iter_bytes():
                    if not _goes_on(body, chunk, deadline):
                        break
                return _reply(response, body)
        except httpx2.TimeoutException as error:
            raise TimeoutError("the time is over") from error
        except httpx2.TransportError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error


class AsyncHttpxTransport:
    """A transport for `AsyncSignpost`."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def __call__(self, request: HttpRequest) -> HttpReply:
        deadline, body = time.monotonic() + request.timeout, bytearray()
        try:
            async with self._client.stream(
                request.method,
                request.url,
                headers=dict(request.headers),
                content=request.body,
                timeout=request.timeout,
                follow_redirects=False,
            ) as response:
                async for chunk in response.aiter_bytes():
                    if not _goes_on(body, chunk, deadline):
                        break
                return _reply(response, body)
        except httpx2.TimeoutException as error:
            raise TimeoutError("the time is over") from error
        except httpx2.TransportError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error


def _goes_on(body: bytearray, chunk: bytes, deadline: float) -> bool:
    if time.monotonic() > deadline:
        raise TimeoutError("the time is over")
    body += chunk
    return len(body) <= MAX_REPLY


def _reply(response: httpx2.Response, body: bytearray) -> HttpReply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return HttpReply(response.status_code, headers, bytes(body[: MAX_REPLY + 1]))
