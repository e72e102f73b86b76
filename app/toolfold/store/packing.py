"""All rows of a SELECT in one value, as SQLite itself packs them: an array of JSON arrays.

To go to the next row, the module gives up Python's lock and takes it again. Where several threads
want it, each row costs a wait for it, and a page of fifty takes as long as fifty requests do. In
one value all rows are one step, which SQLite takes while others run, and to unpack them takes less
of the lock than to make as many rows of the module's.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import Boolean, Integer, String
from sqlalchemy.types import TypeEngine

MAX_COLUMNS = 100
"""SQLite's functions take no more than 127 arguments in some of its builds."""

_TYPES = (String, Integer)


def can_pack(types: Sequence[TypeEngine[Any]]) -> bool:
    """Say whether values of these types are the same in JSON: bytes and fractions are not."""
    return len(types) <= MAX_COLUMNS and all(
        isinstance(one, _TYPES) and not isinstance(one, Boolean) for one in types
    )


@lru_cache(maxsize=512)
def packed(sql: str, columns: int) -> str:
    """Return the SELECT that packs the rows of `sql`, which has a LIMIT and so keeps its order."""
    names = ", ".join(f"c{number}" for number in range(columns))
    # As bytes, which are not decoded twice.
    rows = f"CAST(json_group_array(json_array({names})) AS BLOB)"
    return f"WITH page({names}) AS ({sql}) SELECT {rows} FROM page"  # noqa: S608 - of SQL that Core compiled.


def unpacked(found: Iterator[Any]) -> list[list[Any]]:
    """Return the values of each row.

    Raises:
        ValueError: for text that is not UTF-8, which is in no database that Toolfold wrote.
    """
    ((data,),) = itertools.islice(found, 2)
    rows: list[list[Any]] = orjson.loads(data)
    return rows
