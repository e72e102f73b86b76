"""`toolfold import`: transcripts from disk into the database."""

import asyncio
import contextlib
import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from toolfold.cli.discovery import Discovery, Found, discover
from toolfold.cli.import_progress import ImportDisplay
from toolfold.cli.import_report import ImportReport
from toolfold.cli.opening import opened
from toolfold.cli.options import command_with, with_settings
from toolfold.cli.program import MAX_ERROR_CHARACTERS
from toolfold.cli.terminal import count, one_line, say, warn
from toolfold.cli.through_server import ServerLink, project_id_for
from toolfold.errors import BadUserInputError, NotFoundError, TranscriptError, UnknownIdError
from toolfold.events import Events
from toolfold.importers import IMPORTERS, Importer, detect
from toolfold.ingest import FileReport, FileState, Problem, import_file, send_file
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
    importer = next((one for one in IMPORTERS if one.name == format_name), None)
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
                work = _Work(database, project_id, importer, report, link, events, process)
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
    process: ReadingProcess | None

    async def run(self, discovery: Discovery, display: ImportDisplay) -> None:
        for found in discovery.files:
            if found.named or await self._is_wanted(found):
                await self._import(found, display)
            else:
                self.report.passed_by += 1
                display.skip(found.size)
        for missed in discovery.unreadable:
            problem = Problem(None, f"cannot be read: {missed.reason}")
            report = failed(missed.path, None, problem)
            self.report.add(report, named=missed.named)
            display.tell(report, 0)

    async def _import(self, found: Found, display: ImportDisplay) -> None:
        """Import a file and tell it.

        Cancelled, it ends after the batch that is being written: what is committed is counted.
        """
        is_cancelled = False

        def progress(byte_count: int) -> None:
            display.read(byte_count)
            if is_cancelled and byte_count < found.size:
                importing.cancel()

        importing = asyncio.create_task(self._report_of(found, progress))
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
                report = importing.result()
                self.report.add(report, named=found.named)
                display.tell(report, found.size)

    async def _report_of(self, found: Found, progress: Progress) -> FileReport:
        importing = (self.database, self.project_id, found.path)
        importer, events = self.importer, self.events
        post = await self.link.post(self.project_id)
        if post is None:
            return await import_file(
                *importing,
                importer=importer,
                progress=progress,
                events=events,
                process=self.process,
            )
        return await send_file(*importing, post, importer=importer, progress=progress)

    async def _is_wanted(self, found: Found) -> bool:
        """Say whether a file that was met in a folder is of the format that was asked for."""
        if self.importer is None:
            return True
        try:
            detected = await asyncio.to_thread(detect, found.path)
        except OSError:
            return True  # Importing it says why it cannot be read.
        return detected.importer is not None and detected.importer.name == self.importer.name


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
