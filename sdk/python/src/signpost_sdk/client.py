"""The blocking and the asynchronous client."""

import ssl
from types import TracebackType

from .atm_calls import AtmCalls
from .calls import DeliveryCalls, DomainCalls, ServiceCalls, SessionCalls
from .client_calls import ClientCalls
from .core import Core
from .steps import AsyncTransport, Namespace, Transport, awaiting, blocking, iterating, iterating_async
from .transport import HttpTransport
from .user_calls import UserCalls
from .webhooks import Webhooks

DEFAULT_BASE_URL = "http://localhost:8080/sandbox/v1"
"""Default base URL: the sandbox of a local server."""


class Sessions(Namespace):
    """Login attempts."""

    create = blocking(SessionCalls.create)
    list = blocking(SessionCalls.list)
    all = iterating(SessionCalls.all)
    get = blocking(SessionCalls.get)
    wait = blocking(SessionCalls.wait)
    follow = iterating(SessionCalls.follow)
    refresh = blocking(SessionCalls.refresh)
    complete = blocking(SessionCalls.complete)
    authenticate = blocking(SessionCalls.authenticate)
    cancel = blocking(SessionCalls.cancel)
    simulate = blocking(SessionCalls.simulate)
    qr_svg = blocking(SessionCalls.qr_svg)
    qr_png = blocking(SessionCalls.qr_png)


class Domains(Namespace):
    """The registered domains."""

    create = blocking(DomainCalls.create)
    list = blocking(DomainCalls.list)
    all = iterating(DomainCalls.all)
    get = blocking(DomainCalls.get)
    update = blocking(DomainCalls.update)
    verify = blocking(DomainCalls.verify)
    delete = blocking(DomainCalls.delete)
    send_test_event = blocking(DomainCalls.send_test_event)


class Users(Namespace):
    """The users of hosted domains."""

    create = blocking(UserCalls.create)
    list = blocking(UserCalls.list)
    all = iterating(UserCalls.all)
    get = blocking(UserCalls.get)
    update = blocking(UserCalls.update)
    delete = blocking(UserCalls.delete)
    delete_all = blocking(UserCalls.delete_all)
    delete_credential = blocking(UserCalls.delete_credential)
    sign_ins = blocking(UserCalls.sign_ins)
    end_sign_in = blocking(UserCalls.end_sign_in)
    end_sign_ins = blocking(UserCalls.end_sign_ins)


class Clients(Namespace):
    """The OpenID Connect clients of hosted domains."""

    create = blocking(ClientCalls.create)
    list = blocking(ClientCalls.list)
    all = iterating(ClientCalls.all)
    get = blocking(ClientCalls.get)
    update = blocking(ClientCalls.update)
    rotate_secret = blocking(ClientCalls.rotate_secret)
    delete = blocking(ClientCalls.delete)


class Deliveries(Namespace):
    """Event deliveries."""

    list = blocking(DeliveryCalls.list)
    all = iterating(DeliveryCalls.all)
    get = blocking(DeliveryCalls.get)
    retry = blocking(DeliveryCalls.retry)
    retry_all = blocking(DeliveryCalls.retry_all)


class Atms(Namespace):
    """Bitcoin ATMs."""

    nearest = blocking(AtmCalls.nearest)
    get = blocking(AtmCalls.get)
    get_many = blocking(AtmCalls.get_many)
    status = blocking(AtmCalls.status)
    list_by_city = blocking(AtmCalls.list_by_city)
    submit = blocking(AtmCalls.submit)
    report = blocking(AtmCalls.report)

    @property
    def mcp_url(self) -> str:
        """The MCP URL for AI assistants."""
        return str(self._calls.core.mcp_url)


class AsyncSessions(Namespace):
    """Login attempts."""

    create = awaiting(SessionCalls.create)
    list = awaiting(SessionCalls.list)
    all = iterating_async(SessionCalls.all)
    get = awaiting(SessionCalls.get)
    wait = awaiting(SessionCalls.wait)
    follow = iterating_async(SessionCalls.follow)
    refresh = awaiting(SessionCalls.refresh)
    complete = awaiting(SessionCalls.complete)
    authenticate = awaiting(SessionCalls.authenticate)
    cancel = awaiting(SessionCalls.cancel)
    simulate = awaiting(SessionCalls.simulate)
    qr_svg = awaiting(SessionCalls.qr_svg)
    qr_png = awaiting(SessionCalls.qr_png)


class AsyncDomains(Namespace):
    """The registered domains."""

    create = awaiting(DomainCalls.create)
    list = awaiting(DomainCalls.list)
    all = iterating_async(DomainCalls.all)
    get = awaiting(DomainCalls.get)
    update = awaiting(DomainCalls.update)
    verify = awaiting(DomainCalls.verify)
    delete = awaiting(DomainCalls.delete)
    send_test_event = awaiting(DomainCalls.send_test_event)


class AsyncUsers(Namespace):
    """The users of hosted domains."""

    create = awaiting(UserCalls.create)
    list = awaiting(UserCalls.list)
    all = iterating_async(UserCalls.all)
    get = awaiting(UserCalls.get)
    update = awaiting(UserCalls.update)
    delete = awaiting(UserCalls.delete)
    delete_all = awaiting(UserCalls.delete_all)
    delete_credential = awaiting(UserCalls.delete_credential)
    sign_ins = awaiting(UserCalls.sign_ins)
    end_sign_in = awaiting(UserCalls.end_sign_in)
    end_sign_ins = awaiting(UserCalls.end_sign_ins)


class AsyncClients(Namespace):
    """The OpenID Connect clients of hosted domains."""

    create = awaiting(ClientCalls.create)
    list = awaiting(ClientCalls.list)
    all = iterating_async(ClientCalls.all)
    get = awaiting(ClientCalls.get)
    update = awaiting(ClientCalls.update)
    rotate_secret = awaiting(ClientCalls.rotate_secret)
    delete = awaiting(ClientCalls.delete)


class AsyncDeliveries(Namespace):
    """Event deliveries."""

    list = awaiting(DeliveryCalls.list)
    all = iterating_async(DeliveryCalls.all)
    get = awaiting(DeliveryCalls.get)
    retry = awaiting(DeliveryCalls.retry)
    retry_all = awaiting(DeliveryCalls.retry_all)


class AsyncAtms(Namespace):
    """Bitcoin ATMs."""

    nearest = awaiting(AtmCalls.nearest)
    get = awaiting(AtmCalls.get)
    get_many = awaiting(AtmCalls.get_many)
    status = awaiting(AtmCalls.status)
    list_by_city = awaiting(AtmCalls.list_by_city)
    submit = awaiting(AtmCalls.submit)
    report = awaiting(AtmCalls.report)

    @property
    def mcp_url(self) -> str:
        """The MCP URL for AI assistants."""
        return str(self._calls.core.mcp_url)


class _Client(Namespace):
    webhooks = Webhooks()
    """`verify` for events."""

    def __init__(self, core: Core) -> None:
        super().__init__(ServiceCalls(core), core)
        self.core = core

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.core.base_url!r})"

    def _close(self) -> None:
        if isinstance(self.core.send_sync, HttpTransport):
            self.core.send_sync.close()
        for threads in (self.core.threads, self.core.waiting_threads):
            if threads is not None:
                threads.shutdown(wait=False, cancel_futures=True)
        self.core.threads = self.core.waiting_threads = None


class Signpost(_Client):
    """A blocking client of the service. Threads may share it.

    `timeout` is in seconds per attempt. `retries` is the maximum number of retries after 429, 503 and, if the call is
    safe to repeat, a lost connection. `transport` replaces the standard library's HTTP client. `mcp_url` is the ATM locator
    (default: `/mcp` at the origin of the base URL), `mcp_token` its access token, or an API key with the scope `mcp`.
    """

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = DEFAULT_BASE_URL,
        timeout: float = 30,
        retries: int = 2,
        transport: Transport | None = None,
        ssl_context: ssl.SSLContext | None = None,
        mcp_url: str | None = None,
        mcp_token: str | None = None,
    ) -> None:
        sender = transport or HttpTransport(ssl_context)
        core = Core(api_key, base_url, timeout, retries, sender, mcp_address=mcp_url, mcp_token=mcp_token)
        super().__init__(core)
        self.sessions = Sessions(SessionCalls(core), core)
        self.domains = Domains(DomainCalls(core), core)
        self.users = Users(UserCalls(core), core)
        self.clients = Clients(ClientCalls(core), core)
        self.deliveries = Deliveries(DeliveryCalls(core), core)
        self.atms = Atms(AtmCalls(core), core)

    verify = blocking(ServiceCalls.verify)

    def close(self) -> None:
        """Closes idle connections."""
        self._close()

    def __enter__(self) -> "Signpost":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSignpost(_Client):
    """A client of the service for event loops.

    Without a `transport`, requests run in up to 32 threads of this client, and `sessions.wait` in up to 128 others. A
    request that gets no thread within `timeout` fails with `timeout`. A cancelled task returns at once, but its request
    may still reach the service.
    """

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = DEFAULT_BASE_URL,
        timeout: float = 30,
        retries: int = 2,
        transport: AsyncTransport | None = None,
        ssl_context: ssl.SSLContext | None = None,
        mcp_url: str | None = None,
        mcp_token: str | None = None,
    ) -> None:
        blocking_one = HttpTransport(ssl_context) if transport is None else None
        core = Core(
            api_key, base_url, timeout, retries, blocking_one, transport, mcp_address=mcp_url, mcp_token=mcp_token
        )
        super().__init__(core)
        self.sessions = AsyncSessions(SessionCalls(core), core)
        self.domains = AsyncDomains(DomainCalls(core), core)
        self.users = AsyncUsers(UserCalls(core), core)
        self.clients = AsyncClients(ClientCalls(core), core)
        self.deliveries = AsyncDeliveries(DeliveryCalls(core), core)
        self.atms = AsyncAtms(AtmCalls(core), core)

    verify = awaiting(ServiceCalls.verify)

    async def aclose(self) -> None:
        """Closes idle connections, and ends the threads once their requests are done."""
        self._close()

    async def __aenter__(self) -> "AsyncSignpost":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
