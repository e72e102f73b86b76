"""Memory that goes back to the system when it is freed."""

import contextlib
import ctypes
import sys

_MMAP_THRESHOLD = -3
"""The name of a parameter in glibc's `malloc.h`."""

_LARGE_BYTES = 256 * 1024


def give_back_what_is_large() -> None:
    """Let what a large value took go back to the system with it.

    glibc does so until it has seen a few of them; then it keeps what they took, with small values
    between. An import has one such value after the other, in two processes. Other C libraries need
    no telling.
    """
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
