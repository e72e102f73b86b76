"""A disk of a few megabytes, mounted for as long as a test needs it."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

FILLER = "filler"
_PIECE_BYTES = 64 * 1024


@contextlib.contextmanager
def mounted(size_bytes: int) -> Iterator[Path]:
    """Mount a file system of this size in memory, at a folder of its own that all may enter.

    Raises:
        RuntimeError: saying why, if this process may not mount.
    """
    place = Path(tempfile.mkdtemp(prefix="toolfold-disk-"))
    options = f"size={size_bytes},mode=711"
    try:
        if problem := _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", place):
            raise RuntimeError(f"A small disk cannot be mounted: {problem}")
        try:
            yield place
        finally:
            # Lazily: whatever still has a file open there keeps it until it ends.
            _run("umount", "--lazy", place)
    finally:
        place.rmdir()


def problem() -> str | None:
    """Return why no small disk can be mounted here; None if one can."""
    try:
        with mounted(2**20):
            return None
    except RuntimeError as error:
        return str(error)


def take(disk: Path, size_bytes: int) -> None:
    """Take some room, which `make_room` gives back."""
    (disk / FILLER).write_bytes(b"\1" * size_bytes)


def fill(disk: Path) -> None:
    """Take all the room that is left."""
    with (disk / FILLER).open("ab", buffering=0) as file:
        for size in (_PIECE_BYTES, 1):
            with contextlib.suppress(OSError):
                while file.write(b"\1" * size):
                    pass


def make_room(disk: Path) -> None:
    """Give back what `take` and `fill` took."""
    (disk / FILLER).unlink()


def _run(*command: object) -> str | None:
    """Run a command; return what it says is wrong, None if nothing."""
    try:
        done = subprocess.run(  # noqa: S603 (our own)
            [str(word) for word in command], capture_output=True, check=False, text=True
        )
    except OSError as error:
        return str(error)
    return (done.stderr.strip() or f"exit code {done.returncode}") if done.returncode else None
