"""The scalars of our own, and how each is written and read.

Rows hold instants as the text that is served, and contents as the bytes that are served, so
that writing either costs nothing.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NewType

import orjson
import strawberry
from strawberry.types.scalar import ScalarDefinition

from toolfold.execution.plain import PassedThrough

DateTime = NewType("DateTime", str)
"""An instant as it is stored and served: RFC 3339, UTC, milliseconds."""

JSONValue = NewType("JSONValue", object)
"""A JSON value, or an `orjson.Fragment` of stored bytes that the response carries unparsed."""

BigInt = NewType("BigInt", int)
"""A whole number that JavaScript represents exactly."""

MAX_BIG_INT = 2**53 - 1

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def parse_date_time(value: object) -> str:
    """Return an RFC 3339 text as it would be stored.

    Raises:
        ValueError: if it is anything else.
    """
    if not isinstance(value, str) or not _RFC_3339.fullmatch(value):
        raise ValueError(f"DateTime must be an RFC 3339 text with its offset, not {value!r}.")
    try:
        instant = datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"DateTime must be an instant that exists, not {value!r}.") from error
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_big_int(value: object) -> int:
    """Return a whole number within ±(2^53 - 1).

    Raises:
        ValueError: if it is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_BIG_INT:
        raise ValueError(f"BigInt must be a whole number up to 2^53 - 1, not {value!r}.")
    return value


def _as_it_is(value: Any) -> Any:
    return value


# What a row holds is of these types, and costs nothing to serve.
_text = PassedThrough(str, _as_it_is)
_fragment = PassedThrough(orjson.Fragment, _as_it_is)
_big_int = PassedThrough(int, parse_big_int, bits=53)


SCALARS: Mapping[object, ScalarDefinition] = {
    DateTime: strawberry.scalar(
        name="DateTime",
        description="An instant, RFC 3339, UTC, millisecond precision.",
        serialize=_text,
        parse_value=parse_date_time,
    ),
    JSONValue: strawberry.scalar(
        name="JSON",
        description="Any JSON value, exactly as recorded.",
        serialize=_fragment,
        parse_value=_as_it_is,
    ),
    BigInt: strawberry.scalar(
        name="BigInt",
        description="A whole number up to 2^53 - 1, as a JSON number.",
        serialize=_big_int,
        parse_value=parse_big_int,
    ),
}
