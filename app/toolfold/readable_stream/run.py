"""A run of a content's readable text, and where the text can be read on from."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import orjson

ReadRange = Callable[[int, int], AsyncIterator[bytes]]
"""Yields stored bytes [start, end) in pieces."""

IN_LOOP_CHARACTERS = 16 * 1024
"""A run up to this is looked through on the event loop; a thread would cost more than it frees."""

_QUOTES = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored byte from which the text of a content can be read on.

    It is where a block begins; or within a string that is the text of one, `depth` levels deep in
    its block.
    """

    offset: int
    depth: int | None = None
    is_first: bool = False
    """Whether no text stands before."""


START = Entry(0, is_first=True)


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive text, made of the stored bytes from `offset` on.

    `is_verbatim` if it is a string there, or a part of one, so that each character has its place;
    else the whole run has only the one. `size` is that of the text in bytes, `breaks` the number
    of line breaks in it. `entry` is there if the text can be read on from here.
    """

    text: str
    offset: int
    size: int
    breaks: int
    is_verbatim: bool = False
    entry: Entry | None = None

    @classmethod
    def of(
        cls, text: str, offset: int, *, is_verbatim: bool = False, entry: Entry | None = None
    ) -> "Run":
        """Return the run of a text, with what is counted in it."""
        size = len(text) if text.isascii() else len(text.encode())
        return cls(text, offset, size, text.count("\n"), is_verbatim, entry)

    def place(self, index: int) -> int:
        """Return where the character at `index` stands in the stored bytes."""
        if not self.is_verbatim:
            return self.offset
        return self.offset + len(orjson.dumps(self.text[:index])) - _QUOTES
