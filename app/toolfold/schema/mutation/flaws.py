"""What no input may hold anywhere: surrogates on their own, infinities, keys that stand twice.

Looked for once in all of a mutation's input, before anything is made of it, so that whatever
follows can take every string and every JSON value as one that can be stored.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import orjson
import strawberry
from strawberry.types.base import (
    StrawberryList,
    StrawberryOptional,
    WithStrawberryObjectDefinition,
    get_object_definition,
    has_object_definition,
)
from strawberry.utils.str_converters import to_camel_case

from toolfold import stored_json
from toolfold.errors import InvalidInputError
from toolfold.exact_json import RepeatedKeys
from toolfold.transcript import Json

Path = tuple[str | int, ...]

_NOT_UNICODE = "Text holds a lone surrogate, which is no Unicode."
_NOT_FINITE = "A number is not finite, which JSON does not know."
_REPEATED = "An object has a key more than once."
_TOO_DEEP = f"JSON is nested deeper than {stored_json.MAX_DEPTH:,} levels."

_Place = tuple[Any, str | int] | None
"""Where a value stands: its container's place, and its key there. A path costs its depth."""


def refuse(asked: Any) -> None:
    """Refuse an input with a flaw anywhere.

    Raises:
        InvalidInputError: for the first one, at its path.
    """
    for path, value in _values(asked, ()):
        _refuse_value(value, path)


def _values(asked: Any, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield what the fields of inputs hold, with its path in GraphQL's names."""
    lists = _list_fields(asked.__class__)
    for name, value in vars(asked).items():
        at = (*path, to_camel_case(name))
        if value is None or value is strawberry.UNSET:
            continue
        if has_object_definition(value):
            yield from _values(value, at)
        elif isinstance(value, list) and name in lists:
            for position, item in enumerate(value):
                if has_object_definition(item):
                    yield from _values(item, (*at, position))
                else:
                    yield (*at, position), item
        else:
            yield at, value


@lru_cache(maxsize=64)
def _list_fields(input_type: type[WithStrawberryObjectDefinition]) -> frozenset[str]:
    """Return the names of an input's fields that are lists, and not one JSON value."""
    found: set[str] = set()
    for one in get_object_definition(input_type, strict=True).fields:
        kind = one.type.of_type if isinstance(one.type, StrawberryOptional) else one.type
        if isinstance(kind, StrawberryList):
            found.add(one.python_name)
    return frozenset(found)


def _refuse_value(value: Json, path: Path) -> None:
    try:
        # orjson refuses a surrogate, depth and repeated keys, and writes null for NaN: without
        # these all is well.
        if b"null" not in orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_SUBCLASS):
            return
    except orjson.JSONEncodeError:
        pass
    pending: list[tuple[Json, _Place, int]] = [(value, None, 0)]
    while pending:
        item, place, depth = pending.pop()
        if place is not None and isinstance(place[1], str):
            _refuse_text(place[1], path, place[0])
        if isinstance(item, list | dict):
            if depth == stored_json.MAX_DEPTH:
                raise InvalidInputError(_TOO_DEEP, *path)
            if isinstance(item, RepeatedKeys):
                raise InvalidInputError(_REPEATED, *path, *_keys(place))
            members = list(item.items() if isinstance(item, dict) else enumerate(item))
            pending += [(inner, (place, key), depth + 1) for key, inner in reversed(members)]
        else:
            _refuse_scalar(item, path, place)


def _refuse_scalar(item: Json, path: Path, place: _Place) -> None:
    if isinstance(item, str):
        _refuse_text(item, path, place)
    elif isinstance(item, float) and not math.isfinite(item):
        raise InvalidInputError(_NOT_FINITE, *path, *_keys(place))


def _refuse_text(text: str, path: Path, place: _Place) -> None:
    if stored_json.repaired_text(text)[1]:
        raise InvalidInputError(_NOT_UNICODE, *path, *_keys(place))


def _keys(place: _Place) -> Path:
    keys: list[str | int] = []
    while place is not None:
        place, key = place
        keys.append(stored_json.repaired_text(key)[0] if isinstance(key, str) else key)
    return tuple(reversed(keys))
