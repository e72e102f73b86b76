"""Databases that a test opens itself."""

import contextlib
from collections.abc import AsyncIterator

from toolfold.settings import Settings
from toolfold.store.engine import Database


@contextlib.asynccontextmanager
async def opened(settings: Settings, *, create: bool = False) -> AsyncIterator[Database]:
    """Open a database for as long as the block runs."""
    database = await Database.open(settings, create=create)
    try:
        yield database
    finally:
        await database.close()
