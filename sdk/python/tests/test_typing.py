"""Type checks: mypy and pyright check this file; it is only imported, not run."""

from collections.abc import AsyncIterator, Iterator
from inspect import signature
from typing import TYPE_CHECKING, assert_type

from signpost_sdk import AsyncSignpost, NearestAtms, Session, Signpost, Verification
from signpost_sdk.replies import Domain, HostedUser, ListedSession

if TYPE_CHECKING:

    def blocking(client: Signpost) -> None:
        assert_type(client.sessions.get("sess_1", wait=3), Session)
        assert_type(client.sessions.all(status="pending"), Iterator[ListedSession])
        assert_type(client.sessions.cancel("sess_1"), None)
        assert_type(client.verify(message="", signature="", public_key=""), Verification)
        assert_type(client.atms.nearest("Miami"), NearestAtms)
        client.sessions.get("sess_1", wit=3)  # type: ignore[call-arg]
        client.sessions.create()  # type: ignore[call-arg]
        client.sessions.create(domain=3)  # type: ignore[arg-type]
        client.domains.update("dom_1", handler="other")  # type: ignore[arg-type]

    async def awaiting(client: AsyncSignpost) -> None:
        assert_type(await client.sessions.get("sess_1", wait=3), Session)
        assert_type(await client.domains.update("dom_1", event_url=None), Domain)
        assert_type(client.users.all("dom_1"), AsyncIterator[HostedUser])
        assert_type(await client.verify(message="", signature="", public_key=""), Verification)
        await client.sessions.get("sess_1", wit=3)  # type: ignore[call-arg]


def test_methods_have_docs_and_types() -> None:
    assert Signpost.verify.__doc__ and AsyncSignpost.verify.__doc__ == Signpost.verify.__doc__
    assert AsyncSignpost(api_key="").sessions.create.__name__ == "create"
    assert "-> signpost_sdk.replies.Session" in str(signature(Signpost("").sessions.get))
    assert "-> collections.abc.Iterator[signpost_sdk.replies.HostedUser]" in str(signature(Signpost("").users.all))
