"""Errors that a mutation answers with as data: what a client can mend."""

from typing import Any

import strawberry
from strawberry.utils.str_converters import to_camel_case

from toolfold import errors
from toolfold.errors import RefusedError
from toolfold.schema.scalars import BigInt


@strawberry.interface(
    description=(
        "Why a mutation did not do what it was asked. `path` leads from the argument to what is at "
        "fault: `input`, then names and positions from 0."
    )
)
class UserError:
    """What every such error has."""

    message: str
    path: list[str]


@strawberry.type(description="Nothing that may be written has the id.")
class NotFoundError(UserError):
    """Of `errors.UnknownIdError`."""

    id: strawberry.ID


@strawberry.type(description="A value has no meaning here, or cannot be stored as it is.")
class InvalidInputError(UserError):
    """Of `errors.InvalidInputError`."""


@strawberry.type(
    description=(
        "The session is not where the input expects it. `currentSequence` is where it is: its last "
        "message's sequence, or for recordAcpUpdates the index that is expected next."
    )
)
class ConflictError(UserError):
    """Of `errors.ConflictError`."""

    current_sequence: int


@strawberry.type(
    description=(
        "A batch is over a limit: `size` and `limit` count messages, or bytes as they are stored."
    )
)
class TooLargeError(UserError):
    """Of `errors.TooLargeError`."""

    size: BigInt
    limit: BigInt


TYPES = (NotFoundError, InvalidInputError, ConflictError, TooLargeError)


def of_refusal(refusal: RefusedError, asked: Any) -> UserError:
    """Return an error as its client sees it; `asked` is the mutation's input."""
    path = ["input", *map(str, refusal.path)]
    if isinstance(refusal, errors.UnknownIdError):
        given = _value_at(asked, refusal.path)
        return NotFoundError(message=refusal.message, path=path, id=strawberry.ID(given))
    if isinstance(refusal, errors.ConflictError):
        return ConflictError(message=refusal.message, path=path, current_sequence=refusal.current)
    if isinstance(refusal, errors.TooLargeError):
        size, limit = BigInt(refusal.size), BigInt(refusal.limit)
        return TooLargeError(message=refusal.message, path=path, size=size, limit=limit)
    return InvalidInputError(message=refusal.message, path=path)


def _value_at(asked: Any, path: tuple[str | int, ...]) -> str:
    """Return the id at a path of GraphQL names, which are the input's own fields."""
    names = {to_camel_case(name): name for name in vars(asked)}
    return str(getattr(asked, names[str(path[0])]))
