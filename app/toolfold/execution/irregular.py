"""What sends a value back to graphql-core."""

from collections.abc import Callable
from typing import Any

from graphql.pyutils import Undefined
from strawberry.execution import optimized_is_awaitable


class NotPlainError(Exception):
    """A selection that no function can be generated for."""


class IrregularError(Exception):
    """A value that generated code does not complete; graphql-core then does, or tells why not."""


def irregular(*_: Any) -> Any:
    """Raise, where an expression is wanted."""
    raise IrregularError


def refuse_special(value: object) -> None:
    """Refuse what graphql-core never completes as a value: null, errors, and awaitables.

    Raises:
        IrregularError: for one of them.
    """
    if (
        value is None
        or value is Undefined
        or isinstance(value, Exception)
        or optimized_is_awaitable(value)
    ):
        raise IrregularError


def checked(serialize: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a leaf type's serializer which refuses what graphql-core would not take from it."""

    def serialize_checked(value: Any) -> Any:
        refuse_special(value)
        served = serialize(value)
        refuse_special(served)
        return served

    return serialize_checked


def as_list(value: Any) -> Any:
    """Return a list or a tuple as it is.

    Raises:
        IrregularError: for anything else; a generator could not be read twice.
    """
    if type(value) is list or type(value) is tuple:
        return value
    raise IrregularError
