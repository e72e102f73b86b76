"""The lines in a spool: each with its way and its time, while the spool may still grow.

A line is put together from the frames of its direction. Lines are numbered in the order in which
they ended, both ways together, so that a number always means the same line.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from toolfold.proxy import spool
from toolfold.proxy.frames import LOST, Frame, read_frame, read_run

MAX_LINE_BYTES = 256 * 1024 * 1024
KEPT_BYTES = 64 * 1024
"""How much is kept of a line that is longer than that."""


@dataclass(frozen=True, slots=True)
class SpooledLine:
    """A line without its newline, and when the last of it went through.

    `damage` says why it is not a message as it was sent, if it is not.
    """

    number: int
    direction: bytes
    nanoseconds: int
    raw: bytes
    is_terminated: bool = True
    damage: str | None = None


@dataclass(slots=True)
class _Open:
    """A line of which the end is yet to come."""

    pieces: list[bytes] = field(default_factory=list)
    size: int = 0
    kept: int = 0
    nanoseconds: int = 0

    def add(self, piece: bytes, nanoseconds: int) -> None:
        self.size += len(piece)
        self.nanoseconds = nanoseconds
        if self.size > MAX_LINE_BYTES and self.kept > KEPT_BYTES:
            self.pieces = [b"".join(self.pieces)[:KEPT_BYTES]]
            self.kept = KEPT_BYTES
        if self.size <= MAX_LINE_BYTES:
            self.pieces.append(piece)
            self.kept += len(piece)

    @property
    def damage(self) -> str | None:
        if self.size > MAX_LINE_BYTES:
            return f"a line of {self.size:,} bytes, of which the first {KEPT_BYTES:,} are kept"
        return None


class SpoolReader:
    """A spool, read from its beginning; one process at a time can have it open so.

    `size` and `line` say how far it was read.
    """

    def __init__(self, path: Path) -> None:
        """Open a spool.

        Raises:
            BlockingIOError: if another process records it.
            FileNotFoundError: if it is gone.
            OSError: if it cannot be read.
            ValueError: if it is no spool.
        """
        self.path = path
        self._file = path.open("r+b")
        try:
            if not spool.lock(self._file.fileno(), spool.RECORDER):
                raise BlockingIOError(f"{path} is being recorded")
            if os.fstat(self._file.fileno()).st_nlink == 0:
                raise FileNotFoundError(f"{path} has been recorded")
            self.run = read_run(self._file)
        except BaseException:
            self._file.close()
            raise
        self.rewind()

    def __enter__(self) -> Self:
        """Give the reader."""
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Close it, and let others record it."""
        self._file.close()

    @property
    def is_ended(self) -> bool:
        """Whether nothing more will be written."""
        return not spool.is_held(self._file.fileno(), spool.WRITER)

    def rewind(self) -> None:
        """Begin again."""
        self._file.seek(0)
        first = self._file.readline()
        self._hash = hashlib.sha256(first)
        self.size = len(first)
        self.line = 0
        self._open: dict[bytes, _Open] = {}

    @property
    def digest(self) -> bytes:
        """The SHA-256 of the bytes that went through as far as it was read."""
        return self._hash.digest()

    def lines(self) -> Iterator[SpooledLine]:
        """Yield the lines that have ended since the last one, as far as the spool goes by now."""
        while frame := read_frame(self._file):
            yield from self._take(frame)
            self._hash.update(frame.data)
            self.size = self._file.tell()

    def rest(self) -> Iterator[SpooledLine]:
        """Yield what never got its newline, when nothing more will be written."""
        for direction in list(self._open):
            yield self._line(direction, is_terminated=False)

    def remove(self) -> None:
        """Remove the spool: all of it is recorded."""
        self.path.unlink(missing_ok=True)

    def _take(self, frame: Frame) -> Iterator[SpooledLine]:
        if frame.direction == LOST:
            yield from self._lose(frame)
            return
        start = 0
        while (end := frame.data.find(b"\n", start)) >= 0:
            self._opened(frame).add(frame.data[start:end], frame.nanoseconds)
            yield self._line(frame.direction)
            start = end + 1
        if start < len(frame.data):
            self._opened(frame).add(frame.data[start:], frame.nanoseconds)

    def _lose(self, frame: Frame) -> Iterator[SpooledLine]:
        """Tell that bytes are lacking: of either way, so that both may go on amid a line."""
        for direction in list(self._open):
            yield self._line(direction, is_terminated=False)
        self.line += 1
        damage = f"{int(frame.data):,} bytes could not be kept here"
        yield SpooledLine(self.line, LOST, frame.nanoseconds, b"", damage=damage)

    def _opened(self, frame: Frame) -> _Open:
        return self._open.setdefault(frame.direction, _Open())

    def _line(self, direction: bytes, *, is_terminated: bool = True) -> SpooledLine:
        opened = self._open.pop(direction)
        self.line += 1
        return SpooledLine(
            self.line,
            direction,
            opened.nanoseconds,
            b"".join(opened.pieces),
            is_terminated,
            opened.damage,
        )
