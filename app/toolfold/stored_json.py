"""The one writer of stored JSON, and its reader.

Stored JSON is compact UTF-8: no white space, characters outside ASCII as they are, keys in the
order recorded, integers of any length, floats in their shortest form. Sizes, hashes and ETags
are those of these bytes, so nothing else may write them. orjson does the work; what it refuses
(integers over 64 bits, more than 254 levels) is written and read here, without recursion, so
that it works at any depth of the caller's stack.
"""

import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial

import orjson

from toolfold.errors import InvalidJsonError
from toolfold.transcript import Json

MAX_DEPTH = 1_000
"""Levels of arrays and objects that are stored as JSON; `[[]]` has two."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_TOKEN = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
    rb"|(?P<integer>-?\d{19,}+)(?![.eE])"  # may be over 64 bits, as orjson cannot read it
    rb"|-?[\d.][\d.eE+-]*+"
)

_Members = Iterator[tuple[bytes, Json]]
"""What is left of an array or object: the bytes before each item, and the item."""


def encode(value: Json) -> bytes:
    """Return the stored form of a JSON value. NaN and the infinities are written as null.

    Raises:
        InvalidJsonError: if it is nested deeper than `MAX_DEPTH`, or holds a lone surrogate.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return b"".join(_pieces(value, _scalar, MAX_DEPTH))


def decode(data: bytes) -> Json:
    """Return the value of stored JSON, with every digit of its integers.

    Raises:
        ValueError: if `data` is not JSON.
    """
    try:
        value = orjson.loads(data)
        if orjson.dumps(value) == data:
            return value
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    return _decode_integers(data)


def text(value: Json, characters: int | None = None) -> str:
    """Return the first `characters` (None is all) of the stored form as text, of any value.

    Nothing is refused: lone surrogates are U+FFFD, and there is no limit to the depth.
    """
    scalar = partial(_scalar_beginning, characters=characters)
    pieces: list[str] = []
    length = 0
    for piece in _pieces(value, scalar, max_depth=None):
        pieces.append(piece.decode())
        length += len(pieces[-1])
        if characters is not None and length >= characters:
            break
    return "".join(pieces)[:characters]


def repaired(value: Json) -> tuple[Json, bool]:
    """Return `value` with all that JSON cannot say mended, and whether anything was.

    A lone surrogate becomes U+FFFD; NaN and the infinities become null. The value itself is
    left as it is.
    """
    return encode_repaired(value)[:2]


def encode_repaired(value: Json) -> tuple[Json, bool, bytes | None]:
    """Return what `repaired` does, and its stored form if that took no work of its own."""
    try:
        # orjson refuses a surrogate and writes null for NaN: without either all is well.
        data = orjson.dumps(value)
        if b"null" not in data or all(map(_is_finite, _strings_and_scalars(value))):
            return value, False, data
    except orjson.JSONEncodeError:
        pass
    if any(map(_is_damaged, _strings_and_scalars(value))):
        return _mended_copy(value), True, None
    return value, False, None


def repaired_text(value: str) -> tuple[str, bool]:
    """Return `value` with U+FFFD for each lone surrogate, and whether there was one."""
    if value.isascii() or _SURROGATE.search(value) is None:
        return value, False
    # UTF-16 makes one character of two surrogates that belong together.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), True


def _pieces(value: Json, scalar: Callable[[Json], bytes], max_depth: int | None) -> Iterator[bytes]:
    """Yield the JSON of `value` from its first byte to its last."""
    opened: list[tuple[_Members, bytes]] = []
    members: _Members = iter([(b"", value)])
    closing = b""
    while True:
        for before, item in members:
            yield before
            if not isinstance(item, list | dict):
                yield scalar(item)
                continue
            if len(opened) == max_depth:
                raise InvalidJsonError(f"JSON nested deeper than {max_depth:,} levels.")
            opened.append((members, closing))
            if isinstance(item, list):
                opening, members, closing = b"[", _items(item), b"]"
            else:
                opening, members, closing = b"{", _pairs(item, scalar), b"}"
            yield opening
            break
        else:
            yield closing
            if not opened:
                return
            members, closing = opened.pop()


def _items(array: list[Json]) -> _Members:
    for position, item in enumerate(array):
        yield b"," if position else b"", item


def _pairs(mapping: dict[str, Json], scalar: Callable[[Json], bytes]) -> _Members:
    for position, (key, item) in enumerate(mapping.items()):
        yield (b"," if position else b"") + scalar(key) + b":", item


def _scalar(value: Json) -> bytes:
    if type(value) is int:
        return _digits(value).encode()
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise InvalidJsonError(f"Not a JSON value: {error}.") from error


def _scalar_beginning(value: Json, characters: int | None) -> bytes:
    if isinstance(value, str):
        return orjson.dumps(repaired_text(value[:characters])[0])
    return _scalar(value)


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python's limit, which its decimal numbers do not have
        return str(Decimal(value))


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # the same limit
        return int(Decimal(digits))


def _decode_integers(data: bytes) -> Json:
    """Decode JSON with its long integers marked as strings, then put the integers there."""
    mark = b"integer "
    while mark in data:
        mark += b"*"

    def marked(token: re.Match[bytes]) -> bytes:
        return b'"%b%b"' % (mark, token["integer"]) if token["integer"] else token[0]

    root = [orjson.loads(_TOKEN.sub(marked, data))]
    prefix = mark.decode()
    pending: list[Json] = [root]
    while pending:
        container = pending.pop()
        for key, item in _places(container):
            if isinstance(item, list | dict):
                pending.append(item)
            elif isinstance(item, str) and item.startswith(prefix):
                container[key] = _integer(item.removeprefix(prefix))
    return root[0]


def _places(container: Json) -> list[tuple[int | str, Json]]:
    """Return the items of an array or object with what stands between its brackets to set them."""
    if isinstance(container, dict):
        return list(container.items())
    return list(enumerate(container))


def _strings_and_scalars(value: Json) -> Iterator[Json]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield from item
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        else:
            yield item


def _is_finite(value: Json) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _is_damaged(value: Json) -> bool:
    if not _is_finite(value):
        return True
    return isinstance(value, str) and repaired_text(value)[1]


def _mended_copy(value: Json) -> Json:
    root = [_mended(value)]
    pending: list[Json] = [root]
    while pending:
        container = pending.pop()
        for key, item in _places(container):
            container[key] = _mended(item)
            if isinstance(item, list | dict):
                pending.append(container[key])
    return root[0]


def _mended(value: Json) -> Json:
    """Mend a scalar, or an object's keys; the rest of a container is a copy still to be mended."""
    if isinstance(value, str):
        return repaired_text(value)[0]
    if isinstance(value, list):
        return list(value)
    if isinstance(value, dict):
        return _with_mended_keys(value)
    return None if _is_damaged(value) else value


def _with_mended_keys(mapping: dict[str, Json]) -> dict[str, Json]:
    mended: dict[str, Json] = {}
    for key, item in mapping.items():
        name = repaired_text(key)[0]
        while name in mended:  # Two keys that differed are still two.
            name += _REPLACEMENT
        mended[name] = item
    return mended
