"""Names and ids in inputs: what they must be to be kept and found again."""

from typing import Any

import strawberry

from toolfold.errors import InvalidInputError

MAX_ID_BYTES = 1_000
"""PostgreSQL's indexes take no more than about 2,700 of all of a key's columns."""


def name(text: str | None, *path: str | int) -> str:
    """Return a name without the white space around it.

    Raises:
        InvalidInputError: if it is null, blank or too long, or holds a NUL.
    """
    if text is None:
        raise InvalidInputError("It cannot be null.", *path)
    return identifier(text.strip(), *path)


def identifier(text: str, *path: str | int) -> str:
    """Return an id that a client chose, as it is.

    Raises:
        InvalidInputError: if it is empty or too long, or holds a NUL.
    """
    if not text:
        raise InvalidInputError("It cannot be empty.", *path)
    if len(text.encode()) > MAX_ID_BYTES:
        raise InvalidInputError(f"It is longer than {MAX_ID_BYTES:,} bytes.", *path)
    return plain(text, *path)


def plain(text: str, *path: str | int) -> str:
    """Return a text that is stored as it is or not at all.

    Raises:
        InvalidInputError: if it holds a NUL.
    """
    if "\x00" in text:
        raise InvalidInputError("It holds a NUL, which cannot be stored.", *path)
    return text


def optional(text: str | None, *path: str | int) -> str | None:
    """As `plain`; null, absent and empty are none."""
    return plain(text, *path) if text else None


def optional_identifier(text: str | None, *path: str | int) -> str | None:
    """As `identifier`; null, absent and empty are none."""
    return identifier(text, *path) if text else None


def is_given(value: Any) -> bool:
    """Say whether an input's field is there, null or not."""
    return value is not strawberry.UNSET


def given(value: Any) -> Any:
    """Return the value of an input's field; None where it is not there."""
    return None if value is strawberry.UNSET else value
