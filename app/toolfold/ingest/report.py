"""What an import did with one file."""

import enum
from collections.abc import Sized
from dataclasses import dataclass
from pathlib import Path

from toolfold.importers import Detection
from toolfold.ingest.batch import Problem


class FileState(enum.StrEnum):
    """What became of a file."""

    IMPORTED = "imported"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    NOT_SUPPORTED = "not_supported"
    COMPANION = "companion"
    NOT_A_TRANSCRIPT = "not_a_transcript"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FileReport:
    """What an import did with one file.

    `format` is the importer's name, or that of the format that is not supported. `added`,
    `updated` (messages that were there before) and `skipped` (those that are as
    they were) count messages; `kept_raw` records,
    `repaired` what was mended. `bytes` were read. `error` says in one line, naming file and line,
    why it failed; what was written before stays. `sessions` are the ids of those in the file, as
    far as they were told.
    """

    path: Path
    format: str | None
    state: FileState
    added: int = 0
    updated: int = 0
    skipped: int = 0
    kept_raw: int = 0
    repaired: int = 0
    bytes: int = 0
    problems: tuple[Problem, ...] = ()
    sessions: tuple[str, ...] = ()
    error: str | None = None


def state_of(failure: Problem | None, *, deleted: Sized, left: Sized) -> FileState:
    """Return what became of a file that was read: of its sessions some were deleted meanwhile."""
    if failure is not None:
        return FileState.FAILED
    return FileState.DELETED if deleted and not left else FileState.IMPORTED


def not_imported(path: Path, detected: Detection) -> FileReport:
    """Report a file that no importer takes."""
    if detected.companion:
        return FileReport(path, None, FileState.COMPANION)
    if detected.unsupported is not None:
        return FileReport(path, detected.unsupported, FileState.NOT_SUPPORTED)
    return FileReport(path, None, FileState.NOT_A_TRANSCRIPT)


def failed(path: Path, source_format: str | None, problem: Problem) -> FileReport:
    """Report a file of which nothing was imported for a problem."""
    return FileReport(
        path,
        source_format,
        FileState.FAILED,
        problems=(problem,),
        error=in_one_line(path, problem),
    )


def in_one_line(path: Path, problem: Problem) -> str:
    """Return a problem with the file and the line that it is of, unless it says them itself."""
    if problem.reason.startswith(str(path)):
        return problem.reason
    place = path if problem.line is None else f"{path}:{problem.line}"
    return f"{place}: {problem.reason}"
