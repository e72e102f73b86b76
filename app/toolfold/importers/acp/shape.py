"""What an ACP record must look like to be understood."""

import base64

from toolfold.transcript import Json


class NotUnderstoodError(Exception):
    """A record is not what ACP says; its message is the reason for keeping it raw."""


def fields(value: Json, what: str) -> dict[str, Json]:
    """Return `value` if it is an object.

    Raises:
        NotUnderstoodError: naming what is not an object.
    """
    if not isinstance(value, dict):
        raise NotUnderstoodError(f"{what} is not an object")
    return value


def required_text(record: dict[str, Json], key: str) -> str:
    """Return the text under `key`.

    Raises:
        NotUnderstoodError: naming the key, if there is none.
    """
    value = record.get(key)
    if not isinstance(value, str) or not value:
        raise NotUnderstoodError(f"no {key}")
    return value


def text(record: dict[str, Json], key: str) -> str | None:
    """Return the text under `key`, or None for anything else and for an empty one."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def integer(record: dict[str, Json], key: str) -> int | None:
    """Return the integer under `key`, or None for anything else."""
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def nested(record: dict[str, Json], *keys: str) -> dict[str, Json]:
    """Return the object under a path of keys; an empty one where there is none."""
    for key in keys:
        value = record.get(key)
        record = value if isinstance(value, dict) else {}
    return record


def objects(value: Json) -> list[dict[str, Json]]:
    """Return the objects in an array; nothing for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def base64_bytes(value: Json) -> bytes:
    """Return the bytes that `value` is the base64 of.

    Raises:
        NotUnderstoodError: if it is not base64.
    """
    if isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except ValueError:
            pass
    raise NotUnderstoodError("not base64")
