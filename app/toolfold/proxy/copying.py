"""Copying bytes from one pipe to another: unchanged, at once, and only as fast as they are taken.

Reads and writes block: the pipes on both sides are the buffers, and nothing else is.
"""

import os
import select
from collections.abc import Callable

PIECE_BYTES = 64 * 1024

Passing = Callable[[bytes], None]
"""Is told bytes before they are passed on."""


def copy(source: int, target: int, passing: Passing) -> None:
    """Copy until the source ends.

    Raises:
        OSError: if the source or the target fails.
    """
    while piece := os.read(source, PIECE_BYTES):
        passing(piece)
        write_all(target, piece)


def copy_until(source: int, target: int, passing: Passing, stop: int) -> None:
    """Copy until the source ends, or until `stop` does and nothing is left in the source.

    Raises:
        OSError: if the source or the target fails.
    """
    both = select.poll()
    both.register(source, select.POLLIN)
    both.register(stop, select.POLLIN)
    while source in dict(both.poll()):
        piece = os.read(source, PIECE_BYTES)
        if not piece:
            return
        passing(piece)
        write_all(target, piece)


def write_all(target: int, data: bytes) -> None:
    """Write all bytes, however many are taken at once.

    Raises:
        OSError: if the target fails.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]
