"""The statements that reach a database, for tests that claim what is not read."""

import contextlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import event

from toolfold.store.engine import Database


@contextlib.contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Collect the SQL that reaches the DB-API while the block runs.

    Without what begins and ends a transaction: BEGIN, COMMIT, PostgreSQL's lock of writers.
    """
    seen: list[str] = []

    def collect(_connection: Any, _cursor: Any, statement: str, _parameters: Any, *_: Any) -> None:
        if not statement.startswith("LOCK TABLE"):
            seen.append(statement)

    for engine in database.engines:
        event.listen(engine, "before_cursor_execute", collect)
    try:
        yield seen
    finally:
        for engine in database.engines:
            event.remove(engine, "before_cursor_execute", collect)
