"""`toolfold migrate` and `toolfold doctor`: the database itself."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import click

from toolfold.cli.database_place import told_with_its_place
from toolfold.cli.opening import opened, owned
from toolfold.cli.options import with_settings
from toolfold.cli.terminal import count, one_line, say
from toolfold.settings import Settings
from toolfold.store import project, session
from toolfold.store.doctor import CHECKS, Finding, database
from toolfold.store.engine import Database, migrate
from toolfold.store.page import PageRequest

_MAX_PROJECTS = 10_000
_ALL_SESSIONS = session.SessionFilter(include_children=True)


@click.command("migrate")
@with_settings
def migrate_database(settings: Settings) -> None:
    """Upgrade the database to this version, or make it.

    Keep a copy of the database first: an older Toolfold cannot open it afterwards. Stop the
    server before.
    """
    with owned(settings), told_with_its_place(settings):
        asyncio.run(migrate(settings))
    say("The database is of this version's form.")


@click.command()
@with_settings
def doctor(settings: Settings) -> None:
    """Check that the database is whole; change nothing.

    Verifies all stored content against its hash, and sizes, counts, token sums, references,
    sequences, revisions and parents against each other. Each finding is one line: its name, the
    place, what is wrong there. The exit code is 1 if there is any.
    """
    found = asyncio.run(_examine(settings))
    if found:
        names = ", ".join(f"{name} {number:,}" for name, number in sorted(found.items()))
        raise click.ClickException(f"{count(found.total(), 'finding')}: {names}.")
    say("The database is whole.")


async def _examine(settings: Settings) -> Counter[str]:
    """Print what is found, and what was looked at; return how often each name was found."""
    found: Counter[str] = Counter()
    async with opened(settings) as opened_database:
        async for finding in _findings(opened_database):
            say(f"{finding.name}: {finding.place}: {one_line(finding.detail, 400)}")
            found[finding.name] += 1
    return found


async def _findings(opened_database: Database) -> AsyncIterator[Finding]:
    async with opened_database.read() as connection:
        async for finding in database.damage(connection):
            yield finding
        projects = await project.page(connection, PageRequest(first=_MAX_PROJECTS))
        for row in projects.rows:
            sessions = await session.count(connection, [row.id], _ALL_SESSIONS)
            say(f"Checking project {one_line(row.name)}: {count(sessions, 'session')}.")
            for check in CHECKS.values():
                async for finding in check(connection, row.id):
                    yield finding
