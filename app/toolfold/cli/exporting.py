"""`toolfold export`: one session as JSON lines."""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

import click

from toolfold import export
from toolfold.cli.naming import opened, session_of
from toolfold.cli.options import with_settings
from toolfold.cli.terminal import size, warn
from toolfold.errors import NotFoundError
from toolfold.settings import Settings

Write = Callable[[bytes], object]


@click.command("export")
@click.argument("session", metavar="SESSION")
@click.option("--output", metavar="FILE", help="Write here instead of to standard output.")
@click.option("--project", metavar="NAME", help="Look in this project only.")
@with_settings
def export_session(
    settings: Settings, session: str, output: str | None, project: str | None
) -> None:
    """Write one session as JSON lines.

    `toolfold import` takes them back unchanged, into this database or another.

    SESSION is an id as `toolfold list` shows it, the agent's own id, or the beginning of one.
    Nothing is left out or cut. Sub-agents are sessions of their own: `toolfold list --children`.
    """
    if output is None or output == "-":
        asyncio.run(_write(settings, session, project, sys.stdout.buffer.write))
        sys.stdout.buffer.flush()
    else:
        written = asyncio.run(_write_file(settings, session, project, Path(output)))
        warn(f"{output}: {size(written)} written.")


async def _write(settings: Settings, session: str, project: str | None, write: Write) -> int:
    """Write the export piece by piece; return its bytes."""
    written = 0
    async with opened(settings) as database:
        key = await session_of(database, settings, session, project)
        async with (
            database.read() as connection,
            contextlib.aclosing(export.stream(connection, *key)) as pieces,
        ):
            async for piece in pieces:
                write(piece)
                written += len(piece)
    return written


async def _write_file(settings: Settings, session: str, project: str | None, path: Path) -> int:
    """Write the file whole or not at all: it gets its name when it is complete."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("wb") as file:
            written = await _write(settings, session, project, file.write)
        partial.replace(path)
    except OSError as error:
        raise NotFoundError(f"{path}: cannot be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
    return written
