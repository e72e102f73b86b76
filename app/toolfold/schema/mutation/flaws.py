"""What no input may hold anywhere: surrogates on their own, infinities, keys that stand twice.

Looked for once in all of a mutation's input, before anything is made of it, so that whatever
follows can take every string and every JSON value as one that can be stored.
"""

import math
from collections.abc import Iterator
from typing import Any

import orjson
import strawberry
from strawberry.types.base import has_object_definition
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
    for name, value in vars(asked).items():
        at = (*path, to_camel_case(name))
        if value is None or value is strawberry.UNSET:
            continue
        if has_object_definition(value):
            yield from _values(value, at)
        elif isinstance(value, list) and value and has_object_definition(value[0]):
            for position, item in enumerate(value):
                yield from _values(item, (*at, position))
        else:
            yield at, value


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
        if isinstance(item, list | dict):
            if depth == stored_json.MAX_DEPTH:
                raise InvalidInputError(_TOO_DEEP, *path)
            if isinstance(item, dict):
                _refuse_keys(item, path, place)
            members = item.items() if isinstance(item, dict) else enumerate(item)
            pending += [(inner, (place, key), depth + 1) for key, inner in members]
        else:
            _refuse_scalar(item, path, place)


def _refuse_scalar(item: Json, path: Path, place: _Place) -> None:
    if isinstance(item, str):
        _refuse_text(item, path, place)
    elif isinstance(item, float) and not math.isfinite(item):
        raise InvalidInputError(_NOT_FINITE, *path, *_keys(place))


def _refuse_keys(item: dict[str, Json], path: Path, place: _Place) -> None:
    if isinstance(item, RepeatedKeys):
        raise InvalidInputError(_REPEATED, *path, *_keys(place))
    for key in item:
        _refuse_text(key, path, place)


def _refuse_text(text: str, path: Path, place: _Place) -> None:
    if stored_json.repaired_text(text)[1]:
        raise InvalidInputError(_NOT_UNICODE, *path, *_keys(place))


def _keys(place: _Place) -> Path:
    keys: list[str | int] = []
    while place is not None:
        place, key = place
        keys.append(stored_json.repaired_text(key)[0] if isinstance(key, str) else key)
    return tuple(reversed(keys))
