"""Calls as generators, independent of blocking or asynchronous I/O.

Each call of the client and each handler is written once, as a generator: it yields the actions that need I/O (a request,
a pause, a function of the site) and continues with their results. `run` performs them by blocking, `run_async` on an
event loop. This is the only difference between `Signpost` and `AsyncSignpost`.
"""

import asyncio
import functools
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, get_args

from .errors import SignpostError

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request for a transport. `timeout` is in seconds, for the whole exchange."""

    method: str
    url: str
    timeout: float
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    repeatable: bool = True
    """Whether it is retried after a lost connection. If not, it uses a new connection, as idle connections may be closed."""
    waits: bool = False
    """Whether the service itself waits before it replies."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply from a transport: header names in lower case, and at most `MAX_REPLY` + 1 bytes of the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


Transport: TypeAlias = Callable[[HttpRequest], HttpReply]
"""Sends a request and follows no redirect. Raises `OSError` for a lost connection, `TimeoutError` for a time-out."""
AsyncTransport: TypeAlias = Callable[[HttpRequest], Awaitable[HttpReply]]
"""A `Transport` for `AsyncSignpost`."""
MAX_REPLY = 4 * 1024 * 1024
"""Maximum size of a reply, in bytes."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """A call of a function of the site, which may be a coroutine function."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


Steps: TypeAlias = Generator[HttpRequest | Pause | Ask, Any, T]


def ask(function: Callable[..., T | Awaitable[T]], *arguments: Any) -> Steps[T]:
    """Calls the site's function and returns its result."""
    answer: T = yield Ask(function, arguments)
    return answer


def run(steps: Steps[T], send: Transport | None, sleep: Callable[[float], None] = time.sleep) -> T:
    """Runs the steps, blocking."""

    def perform(step: HttpRequest | Pause | Ask) -> Any:
        if isinstance(step, Pause):
            return sleep(step.seconds)
        if isinstance(step, Ask):
            answer = step.function(*step.arguments)
            if not inspect.isawaitable(answer):
                return answer
            if inspect.iscoroutine(answer):
                answer.close()
            raise SignpostError(
                "invalid_argument", f"{step.function!r} is async: use AsyncSignpost and an async framework"
            )
        if send is None:
            raise SignpostError("invalid_argument", "this client has an async transport: await the handler")
        return send(step)

    try:
        step = next(steps)
        while True:
            try:
                result = perform(step)
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


class CallSync(Protocol):
    """Runs a blocking function of the site in a thread."""

    def __call__(self, function: Callable[..., Any], /, *arguments: Any) -> Awaitable[Any]: ...


async def run_async(
    steps: Steps[T],
    send: AsyncTransport,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    call_sync: CallSync = asyncio.to_thread,
) -> T:
    """Runs the steps on the event loop."""

    async def perform(step: HttpRequest | Pause | Ask) -> Any:
        if isinstance(step, HttpRequest):
            async with asyncio.timeout(step.timeout):
                return await send(step)
        if isinstance(step, Pause):
            return await sleep(step.seconds)
        if inspect.iscoroutinefunction(step.function):
            return await step.function(*step.arguments)
        answer = await call_sync(step.function, *step.arguments)
        return await answer if inspect.isawaitable(answer) else answer

    try:
        step = next(steps)
        while True:
            try:
                result = await perform(step)
            except (Exception, asyncio.CancelledError) as error:
                # A cancelled step may be followed by a step that reverts another.
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


def in_threads(send: Transport, executor: Callable[[HttpRequest], Executor | None]) -> AsyncTransport:
    """Adapts a blocking transport to the event loop."""

    async def send_in_thread(request: HttpRequest) -> HttpReply:
        return await asyncio.get_running_loop().run_in_executor(executor(request), send, request)

    return send_in_thread


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """A paginated list, with the function that fetches the page at a cursor."""

    fetch: Callable[[str | None], Steps[tuple[tuple[T, ...], str | None]]]

    def after(self, cursor: str | None) -> Steps[tuple[tuple[T, ...], str | None]]:
        """Returns the page at the cursor and the next cursor, which must differ."""
        items, following = yield from self.fetch(cursor)
        if following is not None and following == cursor:
            raise SignpostError("invalid_response", "the service returned the same page twice")
        return items, following


class Runner(Protocol):
    """Runs the steps of a client."""

    def run(self, steps: Steps[T]) -> T: ...

    async def run_async(self, steps: Steps[T], call_sync: CallSync = asyncio.to_thread) -> T: ...


class Namespace:
    """A group of calls, such as `client.sessions`."""

    def __init__(self, calls: Any, runner: Runner) -> None:
        self._calls, self._runner = calls, runner


def _describe(call: Callable[..., Any], method: Callable[..., Any], result: Any) -> None:
    """Sets the return type that `help` shows."""
    signature = inspect.signature(method)
    answer = get_args(signature.return_annotation)[-1]
    setattr(call, "__signature__", signature.replace(return_annotation=result[answer] if result else answer))  # noqa: B010


def blocking(method: Callable[Concatenate[Any, P], Steps[T]]) -> Callable[Concatenate[Any, P], T]:
    """Returns the method of `Signpost` that runs these steps."""

    @functools.wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        value: T = self._runner.run(method(self._calls, *args, **kwargs))
        return value

    _describe(call, method, None)
    return call


def awaiting(method: Callable[Concatenate[Any, P], Steps[T]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Returns the method of `AsyncSignpost` that runs these steps."""

    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        value: T = await self._runner.run_async(method(self._calls, *args, **kwargs))
        return value

    _describe(call, method, None)
    return call


def iterating(method: Callable[Concatenate[Any, P], Pages[T]]) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """Returns the method of `Signpost` that iterates over all pages."""

    @functools.wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        pages, cursor, more = method(self._calls, *args, **kwargs), None, True
        while more:
            items, cursor = self._runner.run(pages.after(cursor))
            yield from items
            more = cursor is not None

    _describe(call, method, Iterator)
    return call


def iterating_async(method: Callable[Concatenate[Any, P], Pages[T]]) -> Callable[Concatenate[Any, P], AsyncIterator[T]]:
    """Returns the method of `AsyncSignpost` that iterates over all pages."""

    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        pages, cursor, more = method(self._calls, *args, **kwargs), None, True
        while more:
            items, cursor = await self._runner.run_async(pages.after(cursor))
            for item in items:
                yield item
            more = cursor is not None

    _describe(call, method, AsyncIterator)
    return call
