"""`toolfold sample`: a session to try things on, made by code."""

import asyncio
from datetime import UTC, datetime

import click
from sqlalchemy import Connection

from toolfold import sample
from toolfold.cli.opening import opened
from toolfold.cli.options import command_with, with_settings
from toolfold.cli.terminal import count, say
from toolfold.ingest import Counts, record
from toolfold.ingest.identity import of_source
from toolfold.relay import telling
from toolfold.settings import Settings
from toolfold.store import project


@click.command("sample")
@with_settings
def store_sample(settings: Settings) -> None:
    """Store a sample session to try things on.

    It is generated: sizes as in real sessions, every kind of block, a failure, an output of 5 MB,
    a picture, a sub-agent. Running this again changes nothing. An empty database is set up.
    """
    counts = asyncio.run(_store(settings))
    if counts.added:
        say(f"Stored the sample session: {count(counts.added, 'message')}, its sub-agent's too.")
    else:
        say("The sample session is stored already.")
    say(f"To see it: {command_with(settings, f'show {sample.SESSION}')}")
    # Loaded once the work is done: it takes longer than that.
    from toolfold.schema.global_id import encode  # noqa: PLC0415

    session = of_source(sample.FORMAT, sample.SESSION).id
    page = f"/sessions/{encode('Session', project.DEFAULT_ID, session)}"
    say(f"In a browser, while it is served: http://127.0.0.1:{settings.port}{page}")


async def _store(settings: Settings) -> Counts:
    entries = list(sample.entries())

    def write(connection: Connection) -> Counts:
        now = datetime.now(UTC)
        return record(connection, project.DEFAULT_ID, entries, format=sample.FORMAT, now=now)

    async with opened(settings, create=True) as database, telling(database) as events:
        counts = await database.write(write)
        events.publish(counts.positions(project.DEFAULT_ID))
        return counts
