"""What was replaced is deleted once no operation under way can still ask for it.

A query reads a message's row before its contents, so a content stays for a while after it was
replaced; that it was is stored with it. Whoever serves next deletes what a killed server left.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from toolfold.errors import DatabaseError
from toolfold.ingest.preparation import timestamp
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.recording import content

logger = logging.getLogger(__name__)

KEPT_SECONDS = 60
"""How long a replaced content stays, beside the time that an operation may take."""

INTERVAL_SECONDS = 20.0


@contextlib.asynccontextmanager
async def sweeping(database: Database, settings: Settings) -> AsyncIterator[None]:
    """Delete what was replaced for as long as the block runs, now and then."""
    running = asyncio.create_task(_run(database, settings))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])


async def sweep(database: Database, settings: Settings, *, now: datetime) -> int:
    """Delete what was replaced long enough ago; return how many contents were looked at."""
    kept = timedelta(seconds=KEPT_SECONDS + settings.query_seconds)
    before = timestamp(now - kept)
    count = 0
    # Not all in one transaction: others write, too.
    while found := await database.write(lambda connection: content.sweep(connection, before)):
        count += found
    return count


async def _run(database: Database, settings: Settings) -> None:
    while True:
        try:
            await sweep(database, settings, now=datetime.now(UTC))
        except DatabaseError as error:
            logger.warning("Replaced contents could not be deleted", exc_info=error)
        await asyncio.sleep(INTERVAL_SECONDS)
