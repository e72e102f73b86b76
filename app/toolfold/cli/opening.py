"""The database of a command: open while it works, or its file owned.

Knows nothing of GraphQL, whose schema takes longer to load than a short command takes to run.
"""

import contextlib
from collections.abc import AsyncIterator, Iterator

from toolfold.cli.database_place import told_with_its_place
from toolfold.settings import Settings
from toolfold.store import sqlite
from toolfold.store.engine import Database
from toolfold.store.ownership import Ownership, owning


@contextlib.asynccontextmanager
async def opened(settings: Settings, *, create: bool = False) -> AsyncIterator[Database]:
    """Open the database for one command; `create` makes it if there is none.

    Raises:
        DatabaseError: naming the database, also for what happens while it is open.
    """
    with told_with_its_place(settings):
        database = await Database.open(settings, create=create)
        try:
            yield database
        finally:
            await database.close()


@contextlib.contextmanager
def owned(settings: Settings) -> Iterator[Ownership | None]:
    """Own the SQLite file for as long as the block runs; None stands for PostgreSQL.

    Raises:
        DatabaseError: if a server owns it.
    """
    if settings.database_url:
        yield None
        return
    with owning(settings.data_dir / sqlite.FILE_NAME) as ownership:
        yield ownership
