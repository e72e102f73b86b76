"""How much of its file SQLite reads.

No Python binding offers SQLite's own count of pages, and that passes over some reads. So the
bytes are those that Linux counts for the thread which runs the statements.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.store.opening import opened
from toolfold.settings import Settings
from toolfold.store import dialect

COUNTERS = Path("/proc/thread-self/io")
"""What Linux counts of the thread that reads it."""

_read_so_far = text("SELECT bytes_read()")


async def bytes_read(
    settings: Settings, read: Callable[[AsyncConnection], Awaitable[object]]
) -> int:
    """Return how many bytes of the file `read` reads on a connection that knows the schema."""
    async with opened(settings) as database, database.read() as connection:
        raw = (await connection.get_raw_connection()).driver_connection
        assert isinstance(raw, dialect.InterruptibleConnection)
        # A function of SQL runs on the thread of its connection.
        await raw.create_function("bytes_read", 0, _count)
        before: int = (await connection.execute(_read_so_far)).scalar_one()
        at_once: int = (await connection.execute(_read_so_far)).scalar_one()
        await read(connection)
        after: int = (await connection.execute(_read_so_far)).scalar_one()
    # Counting reads a little itself.
    return after - at_once - (at_once - before)


def _count() -> int:
    counters = dict(line.split(": ") for line in COUNTERS.read_text(encoding="ascii").splitlines())
    return int(counters["rchar"])
