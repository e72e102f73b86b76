"""The cursors of a session's updates: a follower's place, whole, so that any server can go on."""

from toolfold.errors import BadUserInputError
from toolfold.events import SessionKey
from toolfold.feed.session import Place
from toolfold.schema.connection import Scope


def encode(key: SessionKey, place: Place) -> str:
    """Return the cursor of a place in the updates of a session."""
    return _scope(key).encode((place.revision, place.seen, place.own, place.incarnation))


def decode(key: SessionKey, cursor: str) -> Place:
    """Return the place that `encode` was given.

    Raises:
        BadUserInputError: naming `after`, for any other string.
    """
    revision, seen, own, incarnation = _scope(key).decode(cursor, argument="after") or ()
    place = Place(int(revision), int(seen), str(own), str(incarnation))
    if place.revision < 0 or place.seen < 0:
        raise BadUserInputError("after is not a cursor of this session.", argument="after")
    return place


def _scope(key: SessionKey) -> Scope:
    return Scope.of("updates", *key, types=(int, int, str, str))
