"""The standard library's transport, with reused connections."""

import http.client
import io
import os
import select
import socket
import ssl
import threading
import time
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from .steps import MAX_REPLY, HttpReply, HttpRequest

_MAX_IDLE = 8
_MAX_IDLE_SECONDS = 15.0
_CHUNK = 64 * 1024


class HttpTransport:
    """Sends requests with `http.client`. It follows no redirects and uses no proxy; for proxies see `signpost_sdk.httpx`.

    Threads may share it. At most 8 connections stay open when idle, for at most 15 seconds each.
    """

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self.ssl_context = ssl_context
        self._idle: list[tuple[tuple[str, str], http.client.HTTPConnection, float]] = []
        self._lock, self._process = threading.Lock(), os.getpid()

    def __call__(self, request: HttpRequest) -> HttpReply:
        deadline = time.monotonic() + request.timeout
        url = urlsplit(request.url)
        origin = (url.scheme, url.netloc)
        connection = (self._take(origin) if request.repeatable else None) or self._connect(origin, deadline)
        target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
        try:
            reply, is_open = _exchange(connection, request, target, deadline)
        except http.client.HTTPException as error:
            connection.close()
            raise ConnectionError(f"the reply was cut off or is not HTTP ({type(error).__name__})") from error
        except BaseException:
            connection.close()
            raise
        if is_open:
            self._keep(origin, connection)
        else:
            connection.close()
        return reply

    def close(self) -> None:
        """Closes the idle connections. The transport can still be used."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection, _ in idle:
            connection.close()

    def _connect(self, origin: tuple[str, str], deadline: float) -> http.client.HTTPConnection:
        scheme, host = origin
        if scheme == "http":
            connection = http.client.HTTPConnection(host)
            connection.sock = _reach(connection.host, connection.port, deadline)
            return connection
        if self.ssl_context is None:
            self.ssl_context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, context=self.ssl_context)
        plain = _reach(connection.host, connection.port, deadline)
        try:
            plain.settimeout(_left(deadline))
            connection.sock = self.ssl_context.wrap_socket(plain, server_hostname=connection.host)
        except BaseException:
            plain.close()
            raise
        return connection

    def _take(self, origin: tuple[str, str]) -> http.client.HTTPConnection | None:
        with self._lock:
            if self._process != os.getpid():
                # The connections belong to the parent process: two processes must not share them.
                self._idle, self._process = [], os.getpid()
            at = next((at for at, idle in enumerate(self._idle) if idle[0] == origin), None)
            if at is None:
                return None
            _, connection, since = self._idle.pop(at)
        # If an idle connection is readable, the server has closed it.
        if time.monotonic() - since < _MAX_IDLE_SECONDS and not _is_readable(connection):
            return connection
        connection.close()
        return self._take(origin)

    def _keep(self, origin: tuple[str, str], connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._idle.insert(0, (origin, connection, time.monotonic()))
            dropped, self._idle = self._idle[_MAX_IDLE:], self._idle[:_MAX_IDLE]
        for _, old, _ in dropped:
            old.close()


def _exchange(
    connection: http.client.HTTPConnection, request: HttpRequest, target: str, deadline: float
) -> tuple[HttpReply, bool]:
    connection.sock.settimeout(_left(deadline))
    connection.request(request.method, target, request.body, dict(request.headers))
    connection.response_class = partial(_BoundedResponse, deadline=deadline)  # type: ignore[assignment]
    response = connection.getresponse()
    expected, body = response.length, bytearray()
    while expected is None or len(body) < expected:
        chunk = response.read1(_CHUNK)
        body += chunk
        if not chunk or len(body) > MAX_REPLY:
            break
    if expected is not None and len(body) < expected and len(body) <= MAX_REPLY:
        raise ConnectionError("the reply was cut off")
    is_open = not response.will_close and len(body) <= MAX_REPLY
    headers = {name.lower(): value for name, value in reversed(response.getheaders())}
    reply = HttpReply(response.status, headers, bytes(body[: MAX_REPLY + 1]))
    response.close()
    return reply, is_open


class _BoundedResponse(http.client.HTTPResponse):
    """A reply whose head is bounded by the deadline like its body: each read gets the remaining time."""

    def __init__(self, sock: socket.socket, *arguments: Any, deadline: float, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_BoundedReads(sock, deadline))


class _BoundedReads(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline
        self._reads = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        self._sock.settimeout(_left(self._deadline))
        return self._reads.readinto(buffer)

    def close(self) -> None:
        self._reads.close()
        super().close()


def _reach(host: str, port: int, deadline: float) -> socket.socket:
    """Connects to the first address that answers; the timeout covers all attempts."""
    failure: OSError = ConnectionError("the host has no address")
    for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        try:
            sock = socket.create_connection((str(address[0]), port), _left(deadline))
        except OSError as error:
            failure = error
        else:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    raise failure


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is over")
    return left


def _is_readable(connection: http.client.HTTPConnection) -> bool:
    if connection.sock is None:
        return True
    poll = getattr(select, "poll", None)
    if poll is None:
        return bool(select.select([connection.sock], [], [], 0)[0])
    poller = poll()
    poller.register(connection.sock, select.POLLIN)
    return bool(poller.poll(0))
