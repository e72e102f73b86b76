"""Names and ids in inputs: what they must be to be kept and found again."""

from typing import Any

import strawberry

from toolfold.errors import InvalidInputError
from toolfold.ingest.light_texts import MAX_ID_CHARACTERS, MAX_TITLE_CHARACTERS


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
    return plain(text, *path, limit=MAX_ID_CHARACTERS)


def plain(text: str, *path: str | int, limit: int = MAX_TITLE_CHARACTERS) -> str:
    """Return a text that is stored as it is or not at all.

    Raises:
        InvalidInputError: if it holds a NUL, or more characters than `limit`.
    """
    if len(text) > limit:
        raise InvalidInputError(f"It is longer than {limit:,} characters.", *path)
    if "\x00" in text:
        raise InvalidInputError("It holds a NUL, which cannot be stored.", *path)
    return text


def optional(text: str | None, *path: str | int, limit: int = MAX_TITLE_CHARACTERS) -> str | None:
    """As `plain`; null, absent and empty are none."""
    return plain(text, *path, limit=limit) if text else None


def optional_title(text: str | None, *path: str | int) -> str | None:
    """As `optional`.

    Raises:
        InvalidInputError: also if it is nothing but white space, which no list could show.
    """
    if text and text.isspace():
        raise InvalidInputError("It cannot be blank.", *path)
    return optional(text, *path)


def optional_identifier(text: str | None, *path: str | int) -> str | None:
    """As `identifier`; null, absent and empty are none."""
    return identifier(text, *path) if text else None


def is_given(value: Any) -> bool:
    """Say whether an input's field is there, null or not."""
    return value is not strawberry.UNSET


def given(value: Any) -> Any:
    """Return the value of an input's field; None where it is not there."""
    return None if value is strawberry.UNSET else value
