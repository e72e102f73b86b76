"""Which sessions are meant, and in which order."""

from typing import Any

import strawberry

from toolfold.schema.connection import given_filter
from toolfold.schema.enums import OrderDirection, SessionOrderField, SessionStatus
from toolfold.schema.scalars import DateTime
from toolfold.store import session as session_store


@strawberry.input(description="Which sessions; what is given must all hold.")
class SessionFilter:
    """The arguments of a session filter."""

    status: list[SessionStatus] | None = None
    agent: str | None = None
    updated_after: DateTime | None = None
    title_contains: str | None = None
    include_children: bool | None = False

    def facts(self) -> dict[str, Any]:
        """Return what was given, for a cursor's scope.

        Raises:
            BadUserInputError: if a list of it is too long.
        """
        return given_filter(vars(self))

    def where(self) -> session_store.SessionFilter:
        """Return the store's filter."""
        return session_store.SessionFilter(**self.facts())


@strawberry.input(description="An order of sessions; equal ones follow their ids.")
class SessionOrder:
    """The arguments of a session order."""

    field: SessionOrderField
    direction: OrderDirection

    def order(self) -> session_store.SessionOrder:
        """Return the store's order."""
        return session_store.SessionOrder(
            self.field.value, descending=self.direction is OrderDirection.DESC
        )


LATEST_FIRST = SessionOrder(field=SessionOrderField.UPDATED_AT, direction=OrderDirection.DESC)
OLDEST_FIRST = SessionOrder(field=SessionOrderField.CREATED_AT, direction=OrderDirection.ASC)
