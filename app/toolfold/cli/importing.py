"""`toolfold import`: transcripts from disk into the database."""

import asyncio
import contextlib
import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from toolfold.cli.allocation import give_back_what_is_large
from toolfold.cli.discovery import Discovery, Found, discover
from toolfold.cli.import_progress import ImportDisplay
from toolfold.cli.import_report import ImportReport
from toolfold.cli.look_ahead import ahead
from toolfold.cli.opening import opened
from toolfold.cli.options import command_with, with_settings
from toolfold.cli.program import MAX_ERROR_CHARACTERS
from toolfold.cli.terminal import count, one_line, say, warn
from toolfold.cli.through_server import ServerLink, project_id_for
from toolfold.errors import BadUserInputError, NotFoundError, TranscriptError, UnknownIdError
from toolfold.events import Events
from toolfold.importers import IMPORTERS, Importer, importer_of
from toolfold.ingest import FileReport, FileState, Problem, import_file, send_file
from toolfold.ingest.opening import Asked, Opened, Opener
from toolfold.ingest.reading_process import MIN_BYTES, ReadingProcess
from toolfold.ingest.report import failed
from toolfold.ingest.sending import Progress
from toolfold.relay import telling
from toolfold.settings import Settings
from toolfold.store.engine import Database

AUTO = "auto"
_HIDDEN_SHOWN = 5


@click.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--format",
    "format_name",
    type=click.Choice([AUTO, *(importer.name for importer in IMPORTERS)]),
    default=AUTO,
    show_default=True,
    help="Read the files named as this format; of folders, take its files alone.",
)
@click.option(
    "--project",
    "project_name",
    metavar="NAME",
    default="default",
    show_default=True,
    help="The project that the sessions go to; it is made if there is none.",
)
@with_settings
def import_paths(
    settings: Settings, paths: tuple[str, ...], format_name: str, project_name: str
) -> None:
    """Import transcripts: files, and folders with all below them.

    A file's format is recognised by what is in it. Importing again adds only what is new. Each
    file is told with what became of it, and a file that cannot be read stops no other one.

    The exit code is 1 if a path does not exist, one that was named cannot be imported, or
    there was no transcript at all.
    """
    project_name = project_name.strip()
    if not project_name:
        raise BadUserInputError("A project's name cannot be blank.", argument="project")
    if "" in paths:
        raise BadUserInputError("A PATH is empty: it names no file.", argument="paths")
    discovery = discover([Path(path).expanduser() for path in paths])
    importer = importer_of(format_name)
    give_back_what_is_large()
    # What is loaded by now stays, so that looking through it again and again would free nothing.
    gc.freeze()
    with _reading_process(discovery) as process:
        report = asyncio.run(_import_all(settings, discovery, importer, project_name, process))
    _conclude(report, discovery, settings)


@contextlib.contextmanager
def _reading_process(discovery: Discovery) -> Iterator[ReadingProcess | None]:
    """Give a process that reads beside this one, if that is worth its while and can be."""
    if discovery.total_bytes < MIN_BYTES or not ReadingProcess.is_possible():
        yield None
        return
    with contextlib.closing(ReadingProcess()) as process:
        yield process


async def _import_all(
    settings: Settings,
    discovery: Discovery,
    importer: Importer | None,
    project_name: str,
    process: ReadingProcess | None,
) -> ImportReport:
    """Import all files and show the summary, also of what was done until Ctrl-C."""
    report = ImportReport()
    async with opened(settings, create=True) as database:
        try:
            async with ServerLink(settings) as link, telling(database) as events:
                project_id = await project_id_for(database, link, project_name)
                opener = Opener(database, project_id, process)
                work = _Work(database, project_id, importer, report, link, events, opener)
                with ImportDisplay(discovery.total_bytes) as display:
                    await work.run(discovery, display)
        except UnknownIdError as error:
            raise NotFoundError(
                f"The project {project_name!r} was deleted meanwhile, with all that it had."
            ) from error
        except asyncio.CancelledError:
            warn("What was imported stays; the same command goes on from there.")
            raise
        finally:
            for line in report.lines():
                say(line)
    return report


@dataclass(frozen=True, slots=True)
class _Work:
    """The import of one file after the other."""

    database: Database
    project_id: str
    importer: Importer | None
    report: ImportReport
    link: ServerLink
    events: Events
    opener: Opener

    async def run(self, discovery: Discovery, display: ImportDisplay) -> None:
        asked = (self._asked(found) for found in discovery.files)
        async with contextlib.aclosing(ahead(self.opener.open_all(asked))) as all_opened:
            for found in discovery.files:
                opened = await anext(all_opened)
                if isinstance(opened, Opened):
                    await self._import(found, opened, display)
                elif opened is not None:
                    self._tell(opened, found, display)
                else:
                    self.report.passed_by += 1
                    display.skip(found.size)
        for missed in discovery.unreadable:
            problem = Problem(None, f"cannot be read: {missed.reason}")
            report = failed(missed.path, None, problem)
            self.report.add(report, named=missed.named)
            display.tell(report, 0)

    def _asked(self, found: Found) -> Asked:
        """Return what is asked for; of what was met in a folder only the format asked for is."""
        if found.named:
            return Asked(found.path, importer=self.importer, size=found.size)
        return Asked(found.path, only=self.importer, size=found.size)

    def _tell(self, report: FileReport, found: Found, display: ImportDisplay) -> None:
        self.report.add(report, named=found.named)
        display.tell(report, found.size)

    async def _import(self, found: Found, opened: Opened, display: ImportDisplay) -> None:
        """Import a file and tell it.

        Cancelled, it ends after the batch that is being written: what is committed is counted.
        """
        is_cancelled = False

        def progress(byte_count: int) -> None:
            display.read(byte_count)
            if is_cancelled and byte_count < found.size:
                importing.cancel()

        importing = asyncio.create_task(self._report_of(opened, progress))
        try:
            await asyncio.shield(importing)
        except asyncio.CancelledError:
            is_cancelled = True
            await asyncio.wait([importing])
            raise
        finally:
            # A second Ctrl-C does not wait.
            is_over = importing.done() and not importing.cancelled()
            if is_over and importing.exception() is None:
                self._tell(importing.result(), found, display)

    async def _report_of(self, opened: Opened, progress: Progress) -> FileReport:
        importing = (self.database, self.project_id, opened.path)
        post = await self.link.post(self.project_id)
        if post is None:
            return await import_file(
                *importing, opened=opened, progress=progress, events=self.events
            )
        return await send_file(*importing, post, opened=opened, progress=progress)


def _conclude(report: ImportReport, discovery: Discovery, settings: Settings) -> None:
    """Tell what was passed by, what to do next, and end with 1 if it did not go as asked."""
    if discovery.hidden:
        names = ", ".join(_names(discovery.hidden))
        say(f"{count(len(discovery.hidden), 'hidden name')} passed by: {names}.")
    for refused in report.refused[:-1]:
        warn(f"Error: {one_line(_reason(refused), MAX_ERROR_CHARACTERS)}")
    if report.refused:
        raise TranscriptError(_reason(report.refused[-1]))
    if not report.succeeded:
        raise NotFoundError("There is no transcript to import.")
    say(f"To see the sessions: {command_with(settings, 'list')}")


def _names(paths: Sequence[Path]) -> list[str]:
    """Return the first few different names, and an ellipsis if there are more."""
    names = list(dict.fromkeys(one_line(path.name) for path in paths))
    return [*names[:_HIDDEN_SHOWN], *(["…"] if len(names) > _HIDDEN_SHOWN else [])]


def _reason(report: FileReport) -> str:
    """Return in one line why a file that was named was not imported."""
    if report.error is not None:
        return report.error
    if report.state is FileState.COMPANION:
        return f"{report.path}: belongs to a session: import that session's file."
    if report.state is FileState.NOT_SUPPORTED:
        return f"{report.path}: {report.format} is a format that is not supported yet."
    return f"{report.path}: is not a transcript."
