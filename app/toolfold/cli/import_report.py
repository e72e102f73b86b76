"""What became of each file of an import, told file by file and in sum."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolfold.cli.terminal import count, one_line
from toolfold.ingest import FileReport, FileState

PROBLEMS_SHOWN = 5
"""Of one file; the rest are counted."""

_IN_SUM = {
    FileState.IMPORTED: "imported",
    FileState.DELETED: "deleted while they were imported",
    FileState.UNCHANGED: "unchanged since the last import",
    FileState.COMPANION: "read with the session that they belong to",
    FileState.NOT_SUPPORTED: "of a format that is not supported yet",
    FileState.NOT_A_TRANSCRIPT: "not transcripts",
    FileState.FAILED: "failed",
}
_SUCCESSES = (FileState.IMPORTED, FileState.DELETED, FileState.UNCHANGED)


def file_lines(report: FileReport) -> Iterator[str]:
    """Yield the lines that tell what became of a file; its problems follow it, indented."""
    if report.error is not None:
        yield f"Failed: {one_line(report.error, 1_000)}"
    else:
        yield f"{one_line(str(report.path), 4_096)}: {_became(report)}"
    problems = [problem for problem in report.problems if not _is_error(report, problem.reason)]
    for problem in problems[:PROBLEMS_SHOWN]:
        place = "" if problem.line is None else f"line {problem.line}: "
        yield f"    {place}{one_line(problem.reason, 200)}"
    if len(problems) > PROBLEMS_SHOWN:
        yield f"    and {len(problems) - PROBLEMS_SHOWN:,} more"


def _is_error(report: FileReport, reason: str) -> bool:
    return report.error is not None and reason in report.error


def _became(report: FileReport) -> str:
    match report.state:
        case FileState.IMPORTED:
            return f"{report.format}, {_Sums().plus(report)}"
        case FileState.DELETED:
            return f"{report.format}, deleted while it was imported; import it again to have it"
        case FileState.UNCHANGED:
            return "unchanged"
        case FileState.COMPANION:
            return "belongs to a session, whose file it is read with"
        case FileState.NOT_SUPPORTED:
            return f"{report.format}, a format that is not supported yet"
        case _:
            return "not a transcript"


@dataclass(slots=True)
class _Sums:
    """Sums over files of messages, repairs and raw records."""

    added: int = 0
    updated: int = 0
    skipped: int = 0
    repaired: int = 0
    kept_raw: int = 0

    def plus(self, report: FileReport) -> "_Sums":
        """Add what an import did with one file; return the same sums."""
        self.added += report.added
        self.updated += report.updated
        self.skipped += report.skipped
        self.repaired += report.repaired
        self.kept_raw += report.kept_raw
        return self

    def __str__(self) -> str:
        parts = [f"{count(self.added, 'message')} added"]
        if self.updated:
            parts.append(f"{self.updated:,} updated")
        if self.skipped:
            parts.append(f"{self.skipped:,} there before")
        if self.repaired:
            parts.append(f"{self.repaired:,} repaired")
        if self.kept_raw:
            parts.append(f"{count(self.kept_raw, 'record')} not understood and kept raw")
        return ", ".join(parts)


@dataclass(slots=True)
class ImportReport:
    """What became of all files."""

    states: Counter[FileState] = field(default_factory=Counter)
    refused: list[FileReport] = field(default_factory=list)
    """Of files that were named and could not be imported."""

    passed_by: int = 0
    """Files of folders that are of another format than the one asked for."""

    _sums: _Sums = field(default_factory=_Sums)
    _unsupported: Counter[str] = field(default_factory=Counter)

    def add(self, report: FileReport, *, named: bool) -> None:
        """Count one more file; `named` says that it was asked for itself."""
        self.states[report.state] += 1
        self._sums.plus(report)
        if report.state is FileState.NOT_SUPPORTED:
            self._unsupported[str(report.format)] += 1
        if named and report.state not in _SUCCESSES:
            self.refused.append(report)

    @property
    def succeeded(self) -> bool:
        """Whether anything was imported, or had been before."""
        return any(self.states[state] for state in _SUCCESSES)

    def lines(self) -> Iterator[str]:
        """Yield the summary: how many files became what, then what the import did."""
        yield f"{count(self.states.total() + self.passed_by, 'file')}:"
        for state, words in _IN_SUM.items():
            number = self.states[state]
            if number:
                formats = _formats(self._unsupported) if state is FileState.NOT_SUPPORTED else ""
                yield f"  {number:>6,}  {words}{formats}"
        if self.passed_by:
            yield f"  {self.passed_by:>6,}  of other formats, and passed by"
        if self.succeeded:
            yield f"{self._sums}."


def _formats(names: Counter[str]) -> str:
    """Return how often each format was met."""
    return ": " + ", ".join(f"{name} ({number:,})" for name, number in sorted(names.items()))
