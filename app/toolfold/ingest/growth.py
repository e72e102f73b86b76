"""Parts that grow from one call to the next: only what is new of them is hashed and stored.

A stream tells what is open again and again: a text with one more word, a terminal's output with
one more line. Such a part is stored on what was stored of it before (its *base*), so that a call
writes a little and not the whole. Bytes that follow the base are stored again with each call until
they are `LEVEL_BYTES`; then they become a level of their own, or one with the levels below that are
not much larger. So there are few levels, each byte is stored in each of them a few times at most,
and all that is written grows as the part does.

What is remembered makes this possible and decides nothing about what is right: contents are known
by their hashes, and one whose base is not there is stored whole.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolfold.store.recording.content import Base

Place = tuple[str, str, str]
"""Whose part: a session, a message or tool call in it, and the part's name."""

MIN_BYTES = 16 * 1024
"""A smaller part is stored whole."""

MAX_PARTS = 8
"""Parts of one stream that are remembered."""

LEVEL_BYTES = 8 * 1024
"""How much is stored again with each call: compressed, about what a database's page takes."""

FACTOR = 4
"""A level holds at least so many times what the one above it held when that was made."""

TAIL_BYTES = 4 * 1024
"""How much of a base may not be what its content begins with, such as the end of its JSON."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A part as it was stored last; `levels` are what it rests on, the topmost first.

    `progress` is the hash of its first `progress_bytes`, which can be gone on with.
    """

    data: bytes
    hash: bytes
    levels: tuple[Base, ...]
    progress: Any
    progress_bytes: int


@dataclass(frozen=True, slots=True)
class Hashed:
    """A part's SHA-256 and how it begins: as the first `shared` bytes of what it was `before`."""

    place: Place
    hash: bytes
    before: Stored | None
    shared: int
    progress: Any
    progress_bytes: int


class Growth:
    """What one stream remembers of the parts that it has stored last."""

    def __init__(self) -> None:
        self._parts: OrderedDict[Place, Stored] = OrderedDict()

    @property
    def size(self) -> int:
        """How many bytes are remembered."""
        return sum(len(part.data) for part in self._parts.values())

    def clear(self) -> None:
        """Forget all parts; what they become next is stored whole."""
        self._parts.clear()

    def hash(self, place: Place, data: bytes) -> Hashed:
        """Return the hash of what a part is now."""
        before = self._parts.get(place)
        shared = 0 if before is None else shared_bytes(before.data, data)
        digest, done = hashlib.sha256(), 0
        if before is not None and before.progress_bytes <= shared:
            digest, done = before.progress.copy(), before.progress_bytes
        view = memoryview(data)
        # Where it has grown it is likely to grow on: what comes next shares at least so much.
        upto = max(done, shared or len(data) - TAIL_BYTES)
        digest.update(view[done:upto])
        progress = digest.copy()
        digest.update(view[upto:])
        return Hashed(place, digest.digest(), before, shared, progress, upto)

    def store(self, hashed: Hashed, data: bytes) -> Base | None:
        """Return what a part that is about to be stored rests on, and remember the part."""
        self._parts.pop(hashed.place, None)
        if len(data) < MIN_BYTES:
            return None
        before = hashed.before
        levels: tuple[Base, ...] = ()
        if before is not None and before.hash == hashed.hash:
            levels = before.levels
        elif before is not None:
            levels = _levels(before, hashed.shared, len(data))
        self._parts[hashed.place] = Stored(
            data, hashed.hash, levels, hashed.progress, hashed.progress_bytes
        )
        if len(self._parts) > MAX_PARTS:
            self._parts.popitem(last=False)
        return levels[0] if levels else None


def shared_bytes(one: bytes, other: bytes) -> int:
    """Return how many bytes two values begin with in common."""
    view = memoryview(one)
    same, different = 0, min(len(one), len(other))
    if other.startswith(view[:different]):
        return different
    while different - same > 1:
        middle = (same + different) // 2
        if other.startswith(view[same:middle], same):
            same = middle
        else:
            different = middle
    return same


def _levels(before: Stored, shared: int, size: int) -> tuple[Base, ...]:
    """Return what a part of `size` bytes rests on, of which `shared` are as they were before."""
    below = before.levels
    own = len(before.data) - (below[0].size if below else 0)
    # What is stored again with each call is no level.
    known = below if own < LEVEL_BYTES else (Base(before.hash, len(before.data)), *below)
    levels = [
        Base(level.hash, min(level.size, shared))
        for level in known
        if level.size - shared <= TAIL_BYTES and shared
    ]
    levels = [level for level, lower in _with_lower(levels) if level.size > lower]
    if levels and size - levels[0].size <= LEVEL_BYTES:
        return tuple(levels)
    for taken, (level, lower) in enumerate(_with_lower(levels)):
        if level.size - lower >= FACTOR * (size - level.size):
            return tuple(levels[taken:])
    return ()


def _with_lower(levels: Sequence[Base]) -> list[tuple[Base, int]]:
    """Return each level with how much the ones below it hold."""
    lower = [level.size for level in levels[1:]]
    return list(zip(levels, [*lower, 0], strict=False))
