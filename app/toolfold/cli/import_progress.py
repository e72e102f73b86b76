"""How an import shows what it is doing: a bar on a terminal, a line for each file elsewhere."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolfold.cli.import_report import file_lines
from toolfold.cli.terminal import console, say
from toolfold.ingest import FileReport, FileState

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_COUNTED_ONLY = frozenset({FileState.UNCHANGED, FileState.COMPANION})
"""What a terminal shows in the summary alone, for there can be thousands of it."""


class ImportDisplay:
    """Shows an import's progress while it runs as a context manager."""

    def __init__(self, total_bytes: int) -> None:
        self._console = console()
        self._bar = None if self._console is None else _bar(self._console)
        self._task = None if self._bar is None else self._bar.add_task("", total=total_bytes)
        self._done = 0

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the bar away; what was printed stays."""
        if self._bar is not None:
            self._bar.stop()

    def read(self, byte_count: int) -> None:
        """Show that so many bytes of the file that is being imported have been read."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done + byte_count)

    def skip(self, byte_count: int) -> None:
        """Show that a file of so many bytes was passed by."""
        self._done += byte_count
        self.read(0)

    def tell(self, report: FileReport, byte_count: int) -> None:
        """Show what became of a file of so many bytes."""
        self.skip(byte_count)
        if self._console is None:
            for line in file_lines(report):
                say(line)
        elif report.state not in _COUNTED_ONLY:
            for line in file_lines(report):
                self._console.print(line, soft_wrap=True)


def _bar(shown_on: "Console") -> "Progress":
    from rich import progress  # noqa: PLC0415 (elsewhere than on a terminal nothing is drawn)

    return progress.Progress(
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
        console=shown_on,
        transient=True,
    )
