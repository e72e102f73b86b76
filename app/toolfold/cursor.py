"""Keyset positions as opaque strings.

A cursor names the key of one row under one order and filter, so that a cursor of another
order or filter is recognised instead of being misread. It holds no secret and is not signed:
what it can reach is decided by the query that takes it.
"""

import base64
import binascii
from collections.abc import Sequence

import orjson

Key = tuple[str | int, ...]


def encode(scope: str, key: Sequence[str | int]) -> str:
    """Return the cursor of `key`; `scope` names what it pages: connection, order and filter."""
    return base64.urlsafe_b64encode(orjson.dumps([scope, *key])).rstrip(b"=").decode("ascii")


def decode(scope: str, cursor: str, *, types: Sequence[type]) -> Key | None:
    """Return the key in `cursor`, or None if it is malformed or of another scope.

    `types` are the key's columns: an integer or a string each.
    """
    try:
        values = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        return None
    if not isinstance(values, list) or len(values) != len(types) + 1 or values[0] != scope:
        return None
    key = tuple(values[1:])
    if any(type(value) is not kind for value, kind in zip(key, types, strict=True)):
        return None
    return key if all(map(_can_be_stored, key)) else None


def _can_be_stored(value: str | int) -> bool:
    # Beyond these no column holds a value, and a database fails at one in a query.
    return "\0" not in value if isinstance(value, str) else -(2**63) <= value < 2**63
