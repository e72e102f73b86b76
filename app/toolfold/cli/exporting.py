"""`toolfold export`: one session as JSON lines."""

import asyncio
import contextlib
import sys
from collections.abc import Callable

import click

from toolfold import export
from toolfold.cli.naming import session_of
from toolfold.cli.opening import opened
from toolfold.cli.options import with_settings
from toolfold.cli.output_file import writing
from toolfold.cli.terminal import one_line, size, warn
from toolfold.schema.global_id import SessionKey
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
    key = asyncio.run(_key(settings, session, project))
    if output is None or output == "-":
        asyncio.run(_write(settings, key, sys.stdout.buffer.write))
        sys.stdout.buffer.flush()
        return
    with writing(output) as file:
        written = asyncio.run(_write(settings, key, file.write))
    warn(f"{one_line(output, 4_096)}: {size(written)} written.")


async def _key(settings: Settings, session: str, project: str | None) -> SessionKey:
    """Find the session before anything is opened for it."""
    async with opened(settings) as database:
        return await session_of(database, settings, session, project)


async def _write(settings: Settings, key: SessionKey, write: Write) -> int:
    """Write the export piece by piece; return its bytes."""
    written = 0
    async with (
        opened(settings) as database,
        database.read() as connection,
        contextlib.aclosing(export.stream(connection, *key)) as pieces,
    ):
        async for piece in pieces:
            write(piece)
            written += len(piece)
    return written
