"""The files that `toolfold import PATH…` means: those named, and those below the folders named."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolfold.errors import NotFoundError

Place = tuple[int, int]
"""A device and a file's number on it: what two links to one file share."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to import; `named` says that it was asked for itself, not met in a folder."""

    path: Path
    size: int
    named: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A folder, or what a dead link stands for; `named` as with a file that is found."""

    path: Path
    reason: str
    named: bool


@dataclass(slots=True)
class Discovery:
    """What was met, in the order to import it, and what was passed by and why."""

    files: list[Found] = field(default_factory=list)
    hidden: list[Path] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def total_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(found.size for found in self.files)


def discover(paths: Sequence[Path]) -> Discovery:
    """Find the files of `paths`: folders with all below them, sorted by name.

    Names that begin with a dot are passed by below a folder, and taken if named themselves.
    Links are followed; a folder or file that is reached twice counts once, and as named if it was
    named at all, whichever came first.

    Raises:
        NotFoundError: if one of `paths` does not exist or is neither file nor folder; nothing
            has been read then.
    """
    search = _Search(frozenset(map(_required, paths)))
    for path in paths:
        waiting = [path]
        while waiting:
            waiting.extend(reversed(search.visit(waiting.pop())))
    discovery = search.discovery
    discovery.hidden = [path for path in discovery.hidden if path not in paths]
    return discovery


def _required(path: Path) -> Place:
    try:
        status = path.stat()
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else _reason(error)
        raise NotFoundError(f"{path}: {reason}.") from error
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise NotFoundError(f"{path}: is neither a file nor a folder.")
    return _place(status)


class _Search:
    """What was found so far, and where the search has been."""

    def __init__(self, named: frozenset[Place]) -> None:
        self.discovery = Discovery()
        self._named = named
        self._seen: set[Place] = set()

    def visit(self, path: Path) -> list[Path]:
        """Take `path` if it is a file; return what is in it, in order, if it is a folder."""
        is_named = False
        try:
            status = path.stat()
            place = _place(status)
            if place in self._seen:
                return []
            self._seen.add(place)
            is_named = place in self._named
            children = sorted(path.iterdir()) if stat.S_ISDIR(status.st_mode) else []
        except OSError as error:
            self.discovery.unreadable.append(Unreadable(path, _reason(error), is_named))
            return []
        if stat.S_ISREG(status.st_mode):
            self.discovery.files.append(Found(path, status.st_size, is_named))
        self.discovery.hidden.extend(child for child in children if child.name.startswith("."))
        return [child for child in children if not child.name.startswith(".")]


def _place(status: os.stat_result) -> Place:
    return status.st_dev, status.st_ino


def _reason(error: OSError) -> str:
    """Return what the system says of `error`, as part of a sentence."""
    text = error.strerror or type(error).__name__
    return text[:1].lower() + text[1:]
