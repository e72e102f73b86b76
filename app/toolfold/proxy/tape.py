"""Writing down what goes through, without holding it up.

A thread of its own writes, so that a disk that hangs hangs nobody else. Whoever passes bytes on
waits until they are written down, which takes microseconds: so what an editor or agent has got is
in the spool, whenever this process is killed. If it takes longer, nobody waits until the thread
has caught up. What is yet to be written is bounded: beyond that it is waited for again, and if the
disk takes nothing for a second, what comes is not kept, and told as lost in the spool.
"""

import itertools
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from toolfold.proxy.frames import LOST, frame

PATIENCE_SECONDS = 0.02
MAX_WAITING_BYTES = 64 * 1024 * 1024
STUCK_SECONDS = 1.0
_WRITE_BYTES = 1024 * 1024
_RETRY_SECONDS = 1.0
_END_SECONDS = 5.0

Opened = tuple[Path, int]


class Tape:
    """A spool being written; `open_spool` makes it, `begun` is told its path at the first frame."""

    def __init__(self, open_spool: Callable[[], Opened], begun: Callable[[Path], object]) -> None:
        self._open_spool = open_spool
        self._begun = begun
        self._changed = threading.Condition()
        self._frames: list[bytes] = []
        self._waiting_bytes = 0
        self._put = 0
        self._written = 0
        self._is_late = True  # Until the spool is there.
        self._is_ended = False
        self._is_over = False
        self._is_stuck = False
        self._lost = 0
        self._lost_in_all = 0
        self._failure: str | None = None
        self._size = 0
        self._thread = threading.Thread(target=self._run, name="toolfold-tape", daemon=True)

    def start(self) -> None:
        """Begin to make the spool, and to write what is put."""
        self._thread.start()

    def put(self, direction: bytes, data: bytes) -> None:
        """Have bytes written down that are about to go this way."""
        with self._changed:
            if self._is_over:
                return
            if not self._has_room():
                self._lost += len(data)
                self._lost_in_all += len(data)
                return
            if self._lost:
                self._append(frame(LOST, str(self._lost).encode()))
                self._lost = 0
            self._append(frame(direction, data))
            number = self._put
            self._changed.notify_all()
            if not self._is_late:
                is_written = self._changed.wait_for(
                    lambda: self._written >= number, PATIENCE_SECONDS
                )
                self._is_late = not is_written

    def end(self) -> str | None:
        """Write the rest; return why not all was written down, None if it was."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        self._thread.join(_END_SECONDS)
        if self._thread.is_alive():
            return "the disk takes nothing"
        lost = f"{self._lost_in_all:,} bytes were too much for the disk"
        return self._failure or (lost if self._lost_in_all else None)

    def _has_room(self) -> bool:
        """Say whether more can be put, if need be when what is there has been written."""

        def is_room() -> bool:
            return self._waiting_bytes <= MAX_WAITING_BYTES

        if not is_room() and not self._is_stuck:
            self._is_stuck = not self._changed.wait_for(is_room, STUCK_SECONDS)
        return is_room()

    def _append(self, written: bytes) -> None:
        self._frames.append(written)
        self._waiting_bytes += len(written)
        self._put += 1

    def _run(self) -> None:
        try:
            path, descriptor = self._open_spool()
            self._size = os.fstat(descriptor).st_size
            self._write_all(path, descriptor)
        except Exception as error:  # noqa: BLE001 (what goes through must not notice)
            self._failure = str(error) or type(error).__name__
        with self._changed:
            self._frames.clear()
            self._is_over = self._is_late = True
            self._changed.notify_all()

    def _write_all(self, path: Path, descriptor: int) -> None:
        """Write until the end; a spool into which nothing came is removed."""
        is_begun = False
        while frames := self._take():
            while frames:
                written = self._write_most(descriptor, frames)
                frames = frames[len(written) :]
                if written:
                    self._note(written, is_all=not frames)
                if written and not is_begun:
                    self._begun(path)
                    is_begun = True
                if frames and not self._waits_to_retry():
                    return
        if not is_begun:
            path.unlink()

    def _write_most(self, descriptor: int, frames: list[bytes]) -> list[bytes]:
        """Write all at once, or one after the other as far as there is room; return what it was."""
        if self._write(descriptor, b"".join(frames)):
            return frames
        return list(itertools.takewhile(partial(self._write, descriptor), frames))

    def _note(self, written: list[bytes], *, is_all: bool) -> None:
        with self._changed:
            if is_all:
                self._failure = None
                self._is_stuck = False
            self._written += len(written)
            self._waiting_bytes -= sum(map(len, written))
            self._is_late = bool(self._frames) or not is_all
            self._changed.notify_all()

    def _waits_to_retry(self) -> bool:
        """Wait a while; say whether there is any use in trying again."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._is_ended, _RETRY_SECONDS)

    def _take(self) -> list[bytes]:
        """Return what is to be written next; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._frames or self._is_ended)
            if not self._frames and self._lost:
                self._append(frame(LOST, str(self._lost).encode()))
                self._lost = 0
            count = size = 0
            while count < len(self._frames) and size < _WRITE_BYTES:
                size += len(self._frames[count])
                count += 1
            frames = self._frames[:count]
            del self._frames[:count]
            return frames

    def _write(self, descriptor: int, data: bytes) -> bool:
        """Write all or nothing; say which."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError as error:
            os.ftruncate(descriptor, self._size)
            self._failure = error.strerror or str(error)
            return False
        self._size += len(data)
        return True
