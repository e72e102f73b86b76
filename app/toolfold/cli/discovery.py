"""The files that `toolfold import PATH…` means: those named, and those below the folders named."""

import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolfold.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Found:
    """A file to import; `named` says that it was asked for itself, not met in a folder."""

    path: Path
    size: int
    named: bool


@dataclass(slots=True)
class Discovery:
    """What was met, in the order to import it, and what was passed by and why."""

    files: list[Found] = field(default_factory=list)
    hidden: list[Path] = field(default_factory=list)
    unreadable: dict[Path, str] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(found.size for found in self.files)


def discover(paths: Sequence[Path]) -> Discovery:
    """Find the files of `paths`: folders with all below them, sorted by name.

    Names that begin with a dot are passed by below a folder, and taken if named themselves.
    Links are followed; a folder or file that is reached twice counts once.

    Raises:
        NotFoundError: if one of `paths` does not exist or is neither file nor folder; nothing
            has been read then.
    """
    for path in paths:
        _require(path)
    discovery = Discovery()
    seen: set[tuple[int, int]] = set()
    for path in paths:
        waiting = [path]
        while waiting:
            waiting.extend(reversed(_visit(waiting.pop(), discovery, seen, named=path)))
    return discovery


def _require(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else _reason(error)
        raise NotFoundError(f"{path}: {reason}.") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise NotFoundError(f"{path}: is neither a file nor a folder.")


def _visit(
    path: Path, discovery: Discovery, seen: set[tuple[int, int]], *, named: Path
) -> list[Path]:
    """Take `path` if it is a file; return what is in it, in order, if it is a folder."""
    try:
        status = path.stat()
        place = (status.st_dev, status.st_ino)
        if place in seen:
            return []
        seen.add(place)
        children = sorted(path.iterdir()) if stat.S_ISDIR(status.st_mode) else []
    except OSError as error:
        discovery.unreadable[path] = _reason(error)
        return []
    if stat.S_ISREG(status.st_mode):
        discovery.files.append(Found(path, status.st_size, named=path == named))
    discovery.hidden.extend(child for child in children if child.name.startswith("."))
    return [child for child in children if not child.name.startswith(".")]


def _reason(error: OSError) -> str:
    """Return what the system says of `error`, as part of a sentence."""
    text = error.strerror or type(error).__name__
    return text[:1].lower() + text[1:]
