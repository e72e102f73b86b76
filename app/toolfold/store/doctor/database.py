"""The check of the database as a whole, by the database itself."""

from collections.abc import AsyncIterator

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.doctor.finding import Finding

NAME = "database-file"
_PLACE = "database"


async def damage(connection: AsyncConnection) -> AsyncIterator[Finding]:
    """Yield `database-file`: what SQLite finds wrong with its file, and rows without their parent.

    PostgreSQL enforces foreign keys at every write, and its files are not for a client to read.
    """
    if connection.dialect.name != "sqlite":
        return
    for (line,) in await connection.execute(text("PRAGMA integrity_check")):
        if line != "ok":
            yield Finding(NAME, _PLACE, line)
    for row in await connection.execute(text("PRAGMA foreign_key_check")):
        yield Finding(NAME, _PLACE, f"a row of `{row[0]}` refers to a missing row of `{row[2]}`")
