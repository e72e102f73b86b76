"""Conditional and range requests over bytes of known size and strong ETag (RFC 9110, 13 and 14)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from starlette.datastructures import Headers

_ENTITY_TAG = re.compile(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')
_RANGE = re.compile(r"bytes=[ \t,]*([0-9]*)-([0-9]*)[ \t,]*", re.IGNORECASE)
_FARTHEST = 10**18


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes [start, stop) of a representation."""

    start: int
    stop: int


class UnsatisfiableRangeError(Exception):
    """A range that begins where the representation has no bytes: 416."""


def is_not_modified(headers: Headers, etag: str) -> bool:
    """Say whether the client has these bytes already (`If-None-Match`): 304."""
    return "if-none-match" in headers and _lists(headers, "if-none-match", etag, weak=True)


def is_precondition_failed(headers: Headers, etag: str) -> bool:
    """Say whether the client wanted other bytes or none at all (`If-Match`): 412."""
    return "if-match" in headers and not _lists(headers, "if-match", etag, weak=False)


def requested_range(headers: Headers, size: int, etag: str) -> ByteRange | None:
    """Return the one range that a GET asks for; None if it gets the whole.

    The whole goes out for no range, for several, for one that is malformed or in another unit,
    and for one of an earlier state of the bytes (`If-Range`).

    Raises:
        UnsatisfiableRangeError: if the one range has none of the bytes.
    """
    values = headers.getlist("range")
    match = _RANGE.fullmatch(values[0]) if len(values) == 1 else None
    # Only a strong tag can vouch for a part; a date can't, since nothing here has one.
    if match is None or headers.get("if-range", etag) != etag:
        return None
    first, last = (_position(digits) for digits in match.groups())
    if first is None:
        return _suffix(last, size)
    if last is not None and last < first:
        return None
    if first >= size:
        raise UnsatisfiableRangeError
    return ByteRange(first, size if last is None else min(last + 1, size))


def _position(digits: str) -> int | None:
    """Return a number of bytes; one beyond what any database holds stands for all that are."""
    if not digits:
        return None
    return int(digits) if len(digits) <= len(str(_FARTHEST)) else _FARTHEST


def _suffix(length: int | None, size: int) -> ByteRange | None:
    if length is None:
        return None
    if length == 0:
        raise UnsatisfiableRangeError
    # The last bytes of nothing are all of it, which no Content-Range can say.
    return ByteRange(max(size - length, 0), size) if size else None


def _lists(headers: Headers, name: str, etag: str, *, weak: bool) -> bool:
    value = ",".join(headers.getlist(name))
    return value.strip() == "*" or etag in _entity_tags(value, weak=weak)


def _entity_tags(value: str, *, weak: bool) -> Iterator[str]:
    """Yield the tags of a list; those marked as weak only if the comparison is weak."""
    for mark, tag in _ENTITY_TAG.findall(value):
        if weak or not mark:
            yield tag
