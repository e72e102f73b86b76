"""Global ids: one opaque string per object, over its type and its key.

An id that is malformed, of another type or of another project reads as absent, never as an
error, so that it tells nothing.
"""

import base64
import binascii
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

SessionKey = tuple[str, str]
"""(project id, session id)."""

MessageKey = tuple[str, str, int]
"""(project id, session id, sequence)."""


_URL_SAFE = bytes.maketrans(b"+/", b"-_")

_DIGITS = 9
"""An Int has at least as many."""


class GlobalId(NamedTuple):
    """A decoded id: the GraphQL type, and the parts of its key as text."""

    typename: str
    parts: tuple[str, ...]


def encode(typename: str, *parts: str | int) -> str:
    """Return the id of the object of type `typename` under the key `parts`."""
    text = f"{typename}:{'/'.join(map(str, parts))}"
    return _in_base64(text.encode())


def encoder(typename: str) -> Callable[..., str]:
    """Return `encode` for one type."""
    return partial(encode, typename)


def message_encoder(typename: str) -> Callable[[str, str, int], str]:
    """Return `encode` for a type that has messages' keys; a page calls it for every object.

    The ids of a session differ in their ends alone, and the ends of many sessions are the same.
    """

    def encode_key(project: str, session: str, sequence: int) -> str:
        beginning, rest = _beginning(typename, project, session)
        return beginning + _end(rest, sequence)

    return encode_key


@lru_cache(maxsize=1_024)
def _beginning(typename: str, project: str, session: str) -> tuple[str, bytes]:
    """Return what the ids of a session's messages begin with, and the bytes before the sequence.

    Base64 goes by three bytes: up to two of the session's are encoded with the sequence.
    """
    text = f"{typename}:{project}/{session}/".encode()
    rest = len(text) % 3
    whole = len(text) - rest
    return _in_base64(text[:whole]), text[whole:]


@lru_cache(maxsize=16_384)
def _end(rest: bytes, sequence: int) -> str:
    return _in_base64(rest + b"%d" % sequence)


def _in_base64(text: bytes) -> str:
    in_base64 = binascii.b2a_base64(text, newline=False)
    return in_base64.translate(_URL_SAFE, b"=").decode("ascii")


def decode(global_id: str) -> GlobalId | None:
    """Return what `encode` was given, or None for any other string."""
    try:
        raw = base64.b64decode(
            global_id + "=" * (-len(global_id) % 4), altchars=b"-_", validate=True
        )
        text = raw.decode()
    except (binascii.Error, UnicodeError, ValueError):
        return None
    typename, separator, key = text.partition(":")
    return GlobalId(typename, tuple(key.split("/"))) if separator else None


def project_key(global_id: str) -> str | None:
    """Return the project id in the id of a Project, or None."""
    match decode(global_id):
        case GlobalId("Project", (project,)):
            return project
    return None


def session_key(global_id: str) -> SessionKey | None:
    """Return the key in the id of a Session, or None."""
    match decode(global_id):
        case GlobalId("Session", (project, session)):
            return project, session
    return None


def message_key(global_id: str, *, typename: str = "Message") -> MessageKey | None:
    """Return the message's key in the id of a Message, or of its ToolMetadata, or None."""
    match decode(global_id):
        case GlobalId(name, (project, session, sequence)) if name == typename:
            # Only the form that `encode` writes: no sign, no leading zero, and within an Int.
            if (
                sequence.isascii()
                and sequence.isdigit()
                and sequence[0] != "0"
                and len(sequence) <= _DIGITS
            ):
                return project, session, int(sequence)
    return None
