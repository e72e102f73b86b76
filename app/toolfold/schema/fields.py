"""How fields of plain rows are declared: by the columns that they read.

Items of lists are named tuples of the columns selected. A field that is one column says so
here, so that a page knows what to read and an executor may read the column itself.
"""

from collections.abc import Callable
from typing import Annotated, Any

import strawberry
from strawberry.parent import StrawberryParent

from toolfold.schema.global_id import encode


def column(
    name: str, description: str | None = None, *, via: Callable[[Any], Any] | None = None
) -> Any:
    """Declare a field that is the row's column `name`, or `via` of it where it is not null."""

    def resolve(root: Any) -> Any:
        value = getattr(root, name)
        return value if via is None or value is None else via(value)

    metadata = {"columns": (name,), "column": name, "via": via}
    return _field(resolve, description, metadata)


def view(typename: str, column_name: str, description: str | None = None) -> Any:
    """Declare a field that shows the same row as `typename`; null where the column is null."""

    def resolve(root: Any) -> Any:
        return root if getattr(root, column_name) is not None else None

    return _field(resolve, description, {"columns": (column_name,), "view": typename})


def global_id(typename: str) -> Any:
    """Declare the id of a type whose rows have a `key`."""

    def resolve(root: Any) -> strawberry.ID:
        return strawberry.ID(encode(typename, *root.key))

    return _field(resolve, "Globally unique and opaque.", {})


def rows(description: str | None = None) -> Any:
    """Declare a connection's field whose items are the page's own rows."""

    def resolve(root: Any) -> Any:
        return root.rows

    return _field(resolve, description, {})


def reads(*columns: str) -> dict[str, Any]:
    """Return the metadata of a field with a resolver of its own that reads these columns."""
    return {"columns": columns}


def _field(resolve: Callable[[Any], Any], description: str | None, metadata: dict[str, Any]) -> Any:
    # Strawberry takes the type from the class's annotation when a resolver has none.
    resolve.__annotations__ = {"root": Annotated[Any, StrawberryParent()]}
    return strawberry.field(resolver=resolve, description=description, metadata=metadata)
