"""The calls for the OpenID Connect clients of hosted domains."""

from collections.abc import Iterable
from typing import Any

from .calls import PAGE, UNSET, Calls, Unset, changed, given
from .core import as_nothing, as_reply, path
from .replies import Client, ClientAuthMethod, ClientList, ClientWithSecret, EmailClaim, SigningAlgorithm
from .steps import Pages, Steps


class ClientCalls(Calls):
    """The OpenID Connect clients of hosted domains."""

    def create(
        self,
        domain_id: str,
        *,
        redirect_uris: Iterable[str],
        name: str | None = None,
        public: bool | None = None,
        post_logout_uris: Iterable[str] | None = None,
        alg: SigningAlgorithm | None = None,
        email: EmailClaim | None = None,
        pkce: bool | None = None,
        trusted: bool | None = None,
        allow: Iterable[str] | None = None,
        token_endpoint_auth_method: ClientAuthMethod | None = None,
    ) -> Steps[ClientWithSecret]:
        """Creates a client. Only this reply contains `client_secret`. `public`: the client cannot store a secret."""
        body = given(
            name=name, public=public, alg=alg, email=email, pkce=pkce, trusted=trusted,
            token_endpoint_auth_method=token_endpoint_auth_method,
        )  # fmt: skip
        body |= {"redirect_uris": [*redirect_uris]} | _lists(post_logout_uris=post_logout_uris, allow=allow)
        target = path("domains", domain_id, "clients")
        return self.core.call("POST", target, as_reply(ClientWithSecret), repeat=False, body=body)

    def list(self, domain_id: str, *, limit: int | None = None, cursor: str | None = None) -> Steps[ClientList]:
        """Returns a page of clients, oldest first. `limit` is 1 to 100."""
        target, query = path("domains", domain_id, "clients"), {"limit": limit, "cursor": cursor}
        return self.core.call("GET", target, as_reply(ClientList), repeat=True, query=query)

    def all(self, domain_id: str) -> Pages[Client]:
        """Returns all clients, oldest first, page by page."""

        def fetch(cursor: str | None) -> Steps[tuple[tuple[Client, ...], str | None]]:
            page = yield from self.list(domain_id, limit=PAGE, cursor=cursor)
            return page.clients, page.next_cursor

        return Pages(fetch)

    def get(self, domain_id: str, client: str) -> Steps[Client]:
        """Returns the client."""
        return self.core.call("GET", path("domains", domain_id, "clients", client), as_reply(Client), repeat=True)

    def update(
        self,
        domain_id: str,
        client: str,
        *,
        name: str | None | Unset = UNSET,
        redirect_uris: Iterable[str] | None = None,
        post_logout_uris: Iterable[str] | None = None,
        alg: SigningAlgorithm | None = None,
        email: EmailClaim | None = None,
        pkce: bool | None = None,
        trusted: bool | None = None,
        allow: Iterable[str] | None | Unset = UNSET,
        token_endpoint_auth_method: ClientAuthMethod | None | Unset = UNSET,
    ) -> Steps[Client]:
        """Changes the given members. None removes `name`, `allow` or `token_endpoint_auth_method`."""
        listed = allow if allow is None or isinstance(allow, Unset) else [*allow]
        body = changed(name=name, allow=listed, token_endpoint_auth_method=token_endpoint_auth_method)
        body |= given(alg=alg, email=email, pkce=pkce, trusted=trusted)
        body |= _lists(redirect_uris=redirect_uris, post_logout_uris=post_logout_uris)
        target = path("domains", domain_id, "clients", client)
        return self.core.call("PATCH", target, as_reply(Client), repeat=True, body=body)

    def rotate_secret(self, domain_id: str, client: str, *, now: bool = False) -> Steps[ClientWithSecret]:
        """Replaces the secret. Only this reply contains the new `client_secret`.

        The previous secret is accepted for 24 hours more, or with `now` no longer.
        """
        target = path("domains", domain_id, "clients", client, "rotate")
        return self.core.call("POST", target, as_reply(ClientWithSecret), repeat=False, body={"now": now})

    def delete(self, domain_id: str, client: str) -> Steps[None]:
        """Deletes a client and revokes its tokens."""
        return self.core.call("DELETE", path("domains", domain_id, "clients", client), as_nothing, repeat=False)


def _lists(**members: Iterable[str] | None) -> dict[str, Any]:
    return {name: [*items] for name, items in members.items() if items is not None}
