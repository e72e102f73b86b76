"""The words in which a schema says how its plain fields are read.

A field says it in its metadata, under `KEY`. What needs no word: fields without a resolver, which
are attributes, and synchronous resolvers that do not take `info`, which are taken for functions
of the object and the arguments alone. Any other field is left to graphql-core.
"""

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

KEY = "plain"
"""Where a field's metadata holds one of the words below."""


@dataclass(frozen=True, slots=True)
class Column:
    """The attribute `name` of the object, or `via` of it where it is not null."""

    name: str
    via: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """What `of` makes of these attributes of the object, in this order."""

    of: Callable[..., Any]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """The first characters of the attribute `name`, as many as the argument `argument` says.

    Null where the attribute is. The field has a resolver too, which does the same from 0 to `most`,
    and is asked for any other number.
    """

    name: str
    argument: str
    most: int


@dataclass(frozen=True, slots=True)
class View:
    """The object itself, shown as another type; null where the attribute `unless_null` is null."""

    unless_null: str | None = None


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A synchronous resolver that takes `info` and may be called twice for one place.

    The second call has the same answer and no further effect: a list that turns out to be
    irregular is completed again. Where it has to wait it returns a `Loading`.
    """


REPEATABLE = Repeatable()


@dataclass(frozen=True, slots=True, eq=False)
class Loading:
    """A value on its way: what `via` makes of the result of a future that a loader has begun.

    Others may wait for the same future, so nobody cancels it. A list waits for all of its futures
    at once, without a task for each. `in_thread` says of a result whether `via` takes long enough
    for another thread to do it; `accept` then sees the value on the event loop, and may raise.
    """

    future: asyncio.Future[Any]
    via: Callable[[Any], Any]
    in_thread: Callable[[Any], bool] | None = None
    accept: Callable[[Any], None] | None = None

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait for it alone, as graphql-core does."""
        return self._value().__await__()

    async def _value(self) -> Any:
        result = await asyncio.shield(self.future)
        if self.is_long(result):
            value = await asyncio.to_thread(self.via, result)
        else:
            value = self.via(result)
        return self.accepted(value)

    def is_long(self, result: Any) -> bool:
        """Say whether `via` of this result is for another thread."""
        return self.in_thread is not None and self.in_thread(result)

    def accepted(self, value: Any) -> Any:
        """Return a value that has been accepted."""
        if self.accept is not None:
            self.accept(value)
        return value


class PassedThrough:
    """A scalar's serializer that returns a value of the type `kind` as it is.

    Integers are bounded by `bits` on either side of zero. Other values go to `otherwise`.
    """

    def __init__(
        self, kind: type, otherwise: Callable[[Any], Any], *, bits: int | None = None
    ) -> None:
        self.kind = kind
        self.otherwise = otherwise
        self.bound = None if bits is None else 2**bits - 1

    def __call__(self, value: Any) -> Any:
        """Return the value as a response holds it."""
        return self.otherwise(value)
