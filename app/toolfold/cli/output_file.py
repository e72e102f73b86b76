"""The file that a command writes: there whole or not at all, and nothing beside it touched."""

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from toolfold.errors import BadUserInputError, NotFoundError


@contextlib.contextmanager
def writing(name: str) -> Iterator[BinaryIO]:
    """Give a file to write what is to be found under `name` once the block is done.

    A link stays, and leads to what was written. What is no regular file, such as a device or a
    pipe, is written to as it is. A file that was there keeps its permissions.

    Raises:
        BadUserInputError: if the name is empty, or a folder's.
        NotFoundError: if the file cannot be written; it is then as it was.
    """
    if not name:
        raise BadUserInputError("--output names no file: it is empty.", argument="output")
    path = Path(name)
    if path.is_dir() or name.endswith(os.sep):
        raise BadUserInputError(f"{name}: is a folder; --output takes a file.", argument="output")
    try:
        with _as_it_is(path) if _is_special(path) else _replacing(path) as file:
            yield file
    except OSError as error:
        raise NotFoundError(f"{name}: cannot be written: {error.strerror}.") from error


def _is_special(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def _as_it_is(path: Path) -> BinaryIO:
    return path.open("wb")


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file of a name that no other has; it takes the place of `path` when it is whole."""
    target = path.resolve()
    partial = target.with_name(f".toolfold-{secrets.token_hex(8)}.partial")
    with partial.open("xb") as file:
        try:
            yield file
            file.flush()
            if target.exists():
                shutil.copymode(target, partial)
            partial.replace(target)
        except BaseException:
            partial.unlink()
            raise
