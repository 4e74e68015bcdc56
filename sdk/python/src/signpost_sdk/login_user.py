"""The user of a completed login."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .replies import SessionUser


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginUser:
    """The user of a completed login. Members that the service did not send are None."""

    id: str
    """`usr_…`, which does not depend on the key: the only member that identifies an account forever."""
    username: str | None = None
    name: str | None = None
    groups: tuple[str, ...] | None = None
    external_id: str | None = None
    """The user's ID in your own database, if you set it."""
    metadata: Mapping[str, Any] | None = None
    is_new: bool | None = None
    """Whether this login created the user."""


def login_user(id: str, user: SessionUser) -> LoginUser:
    """Returns the user of a completed session."""
    return LoginUser(
        id=id,
        username=user.username,
        name=user.name,
        groups=user.groups,
        external_id=user.external_id,
        metadata=user.metadata,
        is_new=user.is_new,
    )
