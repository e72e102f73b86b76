"""How fields of plain rows are declared: by the columns that they read.

Items of lists are named tuples of the columns selected. A field says here what it reads, so that
a page knows its columns (`columns` and `view` in the metadata: see `selection`), and how, so that
the executor may do so without asking it (`toolfold.execution.plain`).
"""

from collections.abc import Callable
from typing import Annotated, Any

import strawberry
from strawberry.parent import StrawberryParent

from toolfold.execution import plain
from toolfold.schema.global_id import encoder, message_encoder


def column(
    name: str, description: str | None = None, *, via: Callable[[Any], Any] | None = None
) -> Any:
    """Declare a field that is the row's column `name`, or `via` of it where it is not null."""

    def resolve(root: Any) -> Any:
        value = getattr(root, name)
        return value if via is None or value is None else via(value)

    metadata = {"columns": (name,), plain.KEY: plain.Column(name, via)}
    return _field(resolve, description, metadata)


def view(typename: str, column_name: str, description: str | None = None) -> Any:
    """Declare a field that shows the same row as `typename`; null where the column is null."""

    def resolve(root: Any) -> Any:
        return root if getattr(root, column_name) is not None else None

    metadata = {"columns": (column_name,), "view": typename, plain.KEY: plain.View(column_name)}
    return _field(resolve, description, metadata)


def itself(description: str | None = None) -> Any:
    """Declare a field that shows the same row, always, as the field's type."""

    def resolve(root: Any) -> Any:
        return root

    return _field(resolve, description, {plain.KEY: plain.View()})


def global_id(typename: str, *key: str) -> Any:
    """Declare the id of a type whose rows have these key columns."""
    return function(encoder(typename), *key, description="Globally unique and opaque.")


def message_id(typename: str) -> Any:
    """Declare the id of a type whose rows are a message's."""
    of = message_encoder(typename)
    names = ("project_id", "session_id", "sequence")
    return function(of, *names, description="Globally unique and opaque.")


def function(of: Callable[..., Any], *names: str, description: str | None = None) -> Any:
    """Declare a field that is a function of these attributes, which every row has."""

    def resolve(root: Any) -> Any:
        return of(*[getattr(root, name) for name in names])

    return _field(resolve, description, {plain.KEY: plain.Function(of, names)})


def rows(description: str | None = None) -> Any:
    """Declare a connection's field whose items are the page's own rows."""

    def resolve(root: Any) -> Any:
        return root.rows

    return _field(resolve, description, {})


def reads(*columns: str) -> dict[str, Any]:
    """Return the metadata of a field with a resolver of its own that reads these columns."""
    return {"columns": columns}


def cut(column: str, argument: str, most: int) -> dict[str, Any]:
    """As `reads`, of a resolver that returns the first characters of a column, or null for null.

    The argument says how many; up to `most` of them may be asked for.
    """
    return {"columns": (column,), plain.KEY: plain.Cut(column, argument, most)}


def repeatable(*columns: str) -> dict[str, Any]:
    """As `reads`, of a resolver that takes `info` and may be called again: see `plain`."""
    return {"columns": columns, plain.KEY: plain.REPEATABLE}


def _field(resolve: Callable[[Any], Any], description: str | None, metadata: dict[str, Any]) -> Any:
    # Strawberry takes the type from the class's annotation when a resolver has none.
    resolve.__annotations__ = {"root": Annotated[Any, StrawberryParent()]}
    return strawberry.field(resolver=resolve, description=description, metadata=metadata)
