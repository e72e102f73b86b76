"""JSON read exactly: every digit of an integer, every level, and what is wrong left to be judged.

orjson is quicker, but reads long integers as floats, keeps the last of two equal keys, and ends at
the first lone surrogate. Python's reader goes as deep as it is let.
"""

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from toolfold.transcript import Json

_PLAIN_NESTING = 200
"""So deep, Python's own recursion limit is far away."""

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKET = re.compile(r"[\[{]|(?P<close>[\]}])")
_recursion = threading.Lock()


class RepeatedKeys(dict[str, Any]):
    """An object in whose text a key stands more than once; the last one counts."""


def parse(data: bytes, *, max_nesting: int) -> Json:
    """Return the value of a JSON text; it may hold lone surrogates and `RepeatedKeys`.

    Raises:
        ValueError: if it is no JSON in UTF-8, or is nested deeper than `max_nesting` levels.
    """
    text = data.decode()
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_refuse_constant, parse_int=integer
    )
    with room_for(nesting(text, max_nesting), max_nesting):
        return decoder.decode(text)


def integer(digits: str) -> int:
    """Return the integer of these digits, however many they are."""
    try:
        return int(digits)
    except ValueError:  # Python's limit of 4,300 digits, which its decimal numbers do not have
        return int(Decimal(digits))


def nesting(text: str, limit: int) -> int:
    """Return how deep arrays and objects are nested, up to one more than `limit`."""
    if text.count("[") + text.count("{") <= _PLAIN_NESTING:
        return _PLAIN_NESTING
    depth = deepest = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += -1 if bracket["close"] else 1
        deepest = max(deepest, depth)
        if deepest > limit:
            break
    return deepest


@contextmanager
def room_for(levels: int, limit: int) -> Iterator[None]:
    """Let Python's JSON parser go as deep as `levels`, which takes one frame each.

    Raises:
        ValueError: if that is deeper than `limit`.
    """
    if levels > limit:
        raise ValueError(f"nested deeper than {limit:,} levels")
    if levels <= _PLAIN_NESTING:
        yield
        return
    with _recursion:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(before + 2 * levels)
        try:
            yield
        finally:
            sys.setrecursionlimit(before)


def _object(pairs: list[tuple[str, Json]]) -> Json:
    value = dict(pairs)
    return value if len(value) == len(pairs) else RepeatedKeys(value)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
