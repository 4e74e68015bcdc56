"""The calls for the users of hosted domains."""

from collections.abc import Iterable, Mapping
from typing import Any

from .calls import PAGE, UNSET, Calls, Unset, changed, given, idempotency
from .core import as_nothing, as_reply, path
from .replies import HostedUser, SignInList, UserList
from .steps import Pages, Steps


class UserCalls(Calls):
    """The users of hosted domains. `user` is an id or any of the user's public keys."""

    def list(
        self,
        domain_id: str,
        *,
        external_id: str | None = None,
        username: str | None = None,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Steps[UserList]:
        """Returns a page of users, oldest first. `limit` is 1 to 100.

        `external_id` and `username` are exact, `q` is a search text.
        """
        query = {"external_id": external_id, "username": username, "q": q, "limit": limit, "cursor": cursor}
        return self.core.call("GET", path("domains", domain_id, "users"), as_reply(UserList), repeat=True, query=query)

    def all(self, domain_id: str) -> Pages[HostedUser]:
        """Returns all users, oldest first, page by page."""

        def fetch(cursor: str | None) -> Steps[tuple[tuple[HostedUser, ...], str | None]]:
            page = yield from self.list(domain_id, limit=PAGE, cursor=cursor)
            return page.users, page.next_cursor

        return Pages(fetch)

    def create(
        self,
        domain_id: str,
        *,
        external_id: str | None = None,
        username: str | None = None,
        email: str | None = None,
        name: str | None = None,
        groups: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Steps[HostedUser]:
        """Creates a user without keys, who gets the first key through a link.

        `external_id` is the user's ID in your own database. `username` and `email` require a key with the scope `manage`.
        Retries share an `Idempotency-Key` (default: random), so they create no second user.
        """
        body = given(external_id=external_id, username=username, email=email, name=name, metadata=metadata)
        if groups is not None:
            body["groups"] = [*groups]
        headers = idempotency(idempotency_key)
        target = path("domains", domain_id, "users")
        return self.core.call("POST", target, as_reply(HostedUser), repeat=True, body=body, headers=headers)

    def get(self, domain_id: str, user: str) -> Steps[HostedUser]:
        """Returns the user."""
        return self.core.call("GET", path("domains", domain_id, "users", user), as_reply(HostedUser), repeat=True)

    def update(
        self,
        domain_id: str,
        user: str,
        *,
        name: str | None | Unset = UNSET,
        groups: Iterable[str] | None | Unset = UNSET,
        metadata: Mapping[str, Any] | None | Unset = UNSET,
        external_id: str | None | Unset = UNSET,
        username: str | None | Unset = UNSET,
        email: str | None | Unset = UNSET,
    ) -> Steps[HostedUser]:
        """Changes the given members. None removes a member. `external_id`, `username` and `email` need the scope `manage`."""
        listed = groups if groups is None or isinstance(groups, Unset) else [*groups]
        body = changed(
            name=name, groups=listed, metadata=metadata, external_id=external_id, username=username, email=email
        )
        target = path("domains", domain_id, "users", user)
        return self.core.call("PATCH", target, as_reply(HostedUser), repeat=True, body=body)

    def delete(self, domain_id: str, user: str) -> Steps[None]:
        """Deletes the user and all of its credentials."""
        return self.core.call("DELETE", path("domains", domain_id, "users", user), as_nothing, repeat=False)

    def delete_all(self, domain_id: str) -> Steps[None]:
        """Deletes all users of the domain."""
        return self.core.call("DELETE", path("domains", domain_id, "users"), as_nothing, repeat=False)

    def delete_credential(self, domain_id: str, user: str, credential: str) -> Steps[None]:
        """Deletes a credential of the user, by its id or its key. Fails with `last_credential` for the last credential."""
        target = path("domains", domain_id, "users", user, "credentials", credential)
        return self.core.call("DELETE", target, as_nothing, repeat=False)

    def sign_ins(
        self, domain_id: str, user: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Steps[SignInList]:
        """Returns a page of the browsers and applications where the user is signed in. `limit` is 1 to 100."""
        target, query = path("domains", domain_id, "users", user, "sign-ins"), {"limit": limit, "cursor": cursor}
        return self.core.call("GET", target, as_reply(SignInList), repeat=True, query=query)

    def end_sign_in(self, domain_id: str, user: str, sign_in: str) -> Steps[None]:
        """Ends a sign-in."""
        target = path("domains", domain_id, "users", user, "sign-ins", sign_in)
        return self.core.call("DELETE", target, as_nothing, repeat=False)

    def end_sign_ins(self, domain_id: str, user: str) -> Steps[None]:
        """Ends all sign-ins of the user."""
        target = path("domains", domain_id, "users", user, "sign-ins")
        return self.core.call("DELETE", target, as_nothing, repeat=False)
