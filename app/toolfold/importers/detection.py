"""What a file is, told by its content; its name and extension say nothing.

Only a sample of a file is read, however large it is.
"""

from dataclasses import dataclass
from pathlib import Path

from toolfold.importers import known_formats
from toolfold.importers.importer import Importer
from toolfold.importers.registry import IMPORTERS
from toolfold.importers.sample import begins_with, first_values


@dataclass(frozen=True, slots=True)
class Detection:
    """What a file is; with nothing set it is not a transcript.

    `importer` reads it; `unsupported` names a format that is known and not imported yet;
    `companion` says that it belongs to a session and is read with that session's file.
    """

    importer: Importer | None = None
    unsupported: str | None = None
    companion: bool = False


def detect(path: Path) -> Detection:
    """Say what the file at `path` is.

    Raises:
        OSError: if it cannot be read.
    """
    # A tool's output may itself be a transcript, so where it lies comes first.
    if (detected := detect_by_place(path)) is not None:
        return detected
    sample = list(first_values(path))
    if any(importer.owns(path, sample) for importer in IMPORTERS):
        return Detection(companion=True)
    for importer in IMPORTERS:
        if importer.accepts(sample):
            return Detection(importer=importer)
    return Detection(unsupported=known_formats.name(sample))


def detect_by_place(path: Path) -> Detection | None:
    """Say what the file at `path` is if that is told without its first values.

    Raises:
        OSError: if it cannot be read.
    """
    if begins_with(path, known_formats.SQLITE_HEADER):
        return Detection(unsupported=known_formats.SQLITE)
    if any(importer.owns(path, ()) for importer in IMPORTERS):
        return Detection(companion=True)
    return None
