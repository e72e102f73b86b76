"""What PostgreSQL knows of new tables before autovacuum gets to them.

Without statistics it takes any index that begins as a primary key does to be as good as that, and
checks each foreign key of an import by all rows of its session. Autovacuum may be a minute away, so
the first rows are analysed as soon as they are many, as PostgreSQL's manual says of bulk loads.
"""

import time
from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from toolfold.store.tables import metadata, project_table

_SECONDS = 1.0
"""How often new tables are looked at while there are any."""

# Not `project`: to analyse it would wait for a writer that is alone, and it is small.
_TABLES = [name for name in metadata.tables if name != project_table.name]

_STATE = text(
    # Pages of 8 KiB; `reltuples` is -1 until the table is analysed for the first time.
    "SELECT relname, pg_relation_size(oid) >= 50 * 8192 FROM pg_class"
    " WHERE oid = ANY(SELECT to_regclass(name) FROM unnest(CAST(:names AS text[])) AS name)"
    " AND reltuples < 0"
)


class Statistics:
    """Has tables analysed after a commit, until all that matter are; `engine` commits at once."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._new = list(_TABLES)
        self._next = 0.0

    def are_due(self) -> bool:
        """Say whether `gather` has anything to look at now; true once for several that ask."""
        now = time.monotonic()
        if not self._new or now < self._next:
            return False
        self._next = now + _SECONDS
        return True

    async def gather(self) -> None:
        """Analyse the tables that were never analysed and have become large."""
        async with self._engine.connect() as connection:
            found = (await connection.execute(_STATE, {"names": self._new})).all()
            self._new = [name for name, is_large in found if not is_large]
            await _analyse(connection, [name for name, is_large in found if is_large])


async def _analyse(connection: AsyncConnection, tables: Sequence[str]) -> None:
    if tables:
        # Another process that analyses one of them now does it for all.
        await connection.exec_driver_sql(f"ANALYZE (SKIP_LOCKED) {', '.join(tables)}")
