"""Splits the stored bytes of a content into its blocks, as they come."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_BLOCK_BYTES = 256 * 1024
"""A block up to this is given whole."""

LONG_STRING_BYTES = 4 * 1024

_MARK = re.compile(rb'["\[\]{},]')
_QUOTE = ord('"')
_BACKSLASH = ord("\\")
_COMMA = ord(",")


class LongString(NamedTuple):
    """Where a string stands, without its quotes, and how many levels deep in its block."""

    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class Block:
    """One element of a content array, or a content that is no array: stored bytes [start, end).

    `data` has them, unless they are more than are given whole. `strings` are its long strings.
    """

    start: int
    end: int
    data: bytes | None
    strings: tuple[LongString, ...]


@dataclass(frozen=True, slots=True)
class Opening:
    """A block that is not given whole, as soon as that is known, where it is in a string.

    The block begins at `start`, and `before` is what stands in it before the string's text.
    """

    start: int
    before: bytes
    string_start: int
    depth: int


@dataclass(slots=True)
class Splitter:
    """Takes the bytes of one content in pieces of any length; they are stored JSON."""

    max_block_bytes: int = MAX_BLOCK_BYTES
    _position: int = 0
    _depth: int = 0
    _base: int | None = None
    """The depth between blocks; None before the first byte."""
    _in_string: bool = False
    _is_escaped: bool = False
    """Whether the piece before ended in a backslash that escapes what follows."""
    _string_start: int = 0
    _block_start: int = 0
    _data: bytearray | None = field(default_factory=bytearray)
    _strings: list[LongString] = field(default_factory=list)
    _is_passed_by: bool = False
    """Whether the block is not to be given."""

    @classmethod
    def at(cls, offset: int, depth: int | None, max_block_bytes: int) -> "Splitter":
        """Return one that takes the bytes from `offset` on.

        A block begins there, or goes on that is not to be given: after a string in it, `depth`
        levels deep.
        """
        if not offset:
            return cls(max_block_bytes)
        # If the content is no array, nothing follows that could be taken for a block.
        splitter = cls(max_block_bytes, _position=offset, _base=1, _block_start=offset)
        splitter._depth = 1 + (depth or 0)
        splitter._is_passed_by = depth is not None
        return splitter

    def feed(self, piece: bytes) -> Iterator[Block | Opening]:
        """Yield the blocks that end in the next piece, or of which it becomes known there."""
        at = kept = 0
        if self._base is None and piece:
            self._base = 1 if piece.startswith(b"[") else 0
            if self._base:
                at = kept = self._depth = self._block_start = 1
        while at < len(piece):
            if self._in_string:
                at = self._string_end(piece, at)
                continue
            mark = _MARK.search(piece, at)
            if mark is None:
                break
            at = mark.end()
            if self._is_boundary(piece[at - 1]):
                yield from self._block(piece[kept : at - 1], self._position + at - 1)
                kept = at
                self._begin_block(self._position + at)
        yield from self._opening(piece[kept:])
        self._position += len(piece)

    def _opening(self, last: bytes) -> Iterator[Opening]:
        """Keep the last bytes of a piece, and yield the block if it is too long from now on."""
        data = self._data
        self._keep(last)
        if self._data is None and data is not None and self._in_string and self._string_start >= 0:
            before = bytes(data[: self._string_start - self._block_start])
            yield Opening(self._block_start, before, self._string_start, self._levels)

    @property
    def _levels(self) -> int:
        return self._depth - (self._base or 0)

    def end(self) -> Iterator[Block]:
        """Yield the block that the content is, if it is no array."""
        if self._base == 0:
            yield from self._block(b"", self._position)

    def _is_boundary(self, mark: int) -> bool:
        """Follow a character that means something, and say whether a block ends before it."""
        if mark == _QUOTE:
            self._in_string = True
            self._string_start = -1
            return False
        if mark == _COMMA:
            return self._depth == self._base == 1
        if mark in b"[{":
            self._depth += 1
            return False
        self._depth -= 1
        return self._depth == 0 and self._base == 1

    def _string_end(self, piece: bytes, at: int) -> int:
        """Go on in a string; return where to go on in the piece."""
        if self._string_start < 0:
            self._string_start = self._position + at
        if self._is_escaped:
            self._is_escaped = False
            at += 1
        while True:
            quote = piece.find(b'"', at)
            if quote < 0:
                self._is_escaped = _backslashes(piece, len(piece), at) % 2 == 1
                return len(piece)
            if _backslashes(piece, quote, at) % 2 == 0:
                break
            at = quote + 1
        self._in_string = False
        end = self._position + quote
        if end - self._string_start >= LONG_STRING_BYTES:
            self._strings.append(LongString(self._string_start, end, self._levels))
        return quote + 1

    def _block(self, last: bytes, end: int) -> Iterator[Block]:
        self._keep(last)
        if end > self._block_start and not self._is_passed_by:
            data = None if self._data is None else bytes(self._data)
            yield Block(self._block_start, end, data, tuple(self._strings))

    def _begin_block(self, start: int) -> None:
        self._block_start = start
        self._is_passed_by = False
        self._data = bytearray()
        self._strings = []

    def _keep(self, piece: bytes) -> None:
        if self._data is None or self._is_passed_by:
            return
        self._data += piece
        if len(self._data) > self.max_block_bytes:
            self._data = None


def _backslashes(piece: bytes, end: int, start: int) -> int:
    """Return how many backslashes stand together before `end`, none of them before `start`."""
    at = end
    while at > start and piece[at - 1] == _BACKSLASH:
        at -= 1
    return end - at
