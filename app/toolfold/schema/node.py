"""Relay's `Node`: anything with a global id."""

from typing import Any

import strawberry


@strawberry.interface(description="An object with an id of its own.")
class Node:
    """Rows know their GraphQL type by their class's `typename`."""

    id: strawberry.ID = strawberry.field(description="Globally unique and opaque.")

    @classmethod
    def resolve_type(cls, value: Any, *_: Any) -> str:
        """Return the name of the type that shows `value`."""
        typename: str = value.typename
        return typename
