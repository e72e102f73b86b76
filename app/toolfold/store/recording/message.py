"""Messages: found by what their source calls them, added, and changed."""

from collections.abc import Collection, Sequence
from operator import itemgetter

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    RowMapping,
    and_,
    bindparam,
    cast,
    func,
    insert,
    select,
    update,
)

from toolfold.store.recording.rows import Values, portions, table_of
from toolfold.store.tables import message_table

USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
"""The columns of a message's usage, and of its session's."""

_column = message_table.c
_KEY = ("project_id", "session_id", "sequence")
_NAMES = tuple(column.name for column in message_table.columns)


def by_client_ids(
    connection: Connection, project_id: str, session_id: str, client_ids: Collection[str]
) -> dict[str, RowMapping]:
    """Return the rows of the messages that exist, by client id."""
    rows = _rows(connection, project_id, session_id, _column.client_id, client_ids)
    return {row["client_id"]: row for row in rows}


def by_tool_call_ids(
    connection: Connection, project_id: str, session_id: str, tool_call_ids: Collection[str]
) -> dict[str, RowMapping]:
    """Return the rows of the calls that exist, by tool call id; of several the latest."""
    rows = _rows(connection, project_id, session_id, _column.tool_call_id, tool_call_ids)
    return {row["tool_call_id"]: row for row in rows}


def _rows(
    connection: Connection,
    project_id: str,
    session_id: str,
    column: ColumnElement[str],
    values: Collection[str],
) -> list[RowMapping]:
    """Return the session's rows whose `column` has one of the values, by sequence."""
    in_session = and_(_column.project_id == project_id, _column.session_id == session_id)
    found: list[RowMapping] = []
    for portion in portions(values):
        wanted = table_of(connection, portion)
        # The outer join makes SQLite look up each value: it believes sessions to be so short
        # that it would rather go through all of the session's messages once.
        each = wanted.outerjoin(message_table, and_(in_session, column == wanted.c.value))
        sequences = connection.execute(select(_column.sequence).select_from(each)).scalars()
        known = sorted(set(sequences) - {None})
        if known:
            statement = select(message_table).where(in_session, _column.sequence.in_(known))
            found += connection.execute(statement).mappings()
    return sorted(found, key=itemgetter("sequence"))


def time_of(connection: Connection, project_id: str, session_id: str, sequence: int) -> str:
    """Return the `created_at` of a message that exists."""
    statement = select(_column.created_at).where(
        _column.project_id == project_id,
        _column.session_id == session_id,
        _column.sequence == sequence,
    )
    time: str = connection.execute(statement).scalar_one()
    return time


def add(connection: Connection, rows: Sequence[Values]) -> None:
    """Insert messages; every row has every column."""
    if rows:
        connection.execute(insert(message_table), rows)


def replace(connection: Connection, rows: Sequence[Values]) -> None:
    """Give messages new values; every row has every column, and its key stays."""
    if not rows:
        return
    statement = update(message_table).where(
        *(_column[name] == bindparam(f"{name}_of_row") for name in _KEY)
    )
    # A key that is set, though to the same value, makes PostgreSQL lock what refers to it.
    settable = [name for name in _NAMES if name not in _KEY]
    parameters = [
        {name: row[name] for name in settable} | {f"{name}_of_row": row[name] for name in _KEY}
        for row in rows
    ]
    connection.execute(statement, parameters)


def usage_sums(connection: Connection, project_id: str, session_id: str) -> RowMapping:
    """Return the sum of each column of `USAGE`; null where no message has any."""
    # PostgreSQL adds big integers up to a numeric.
    sums = (cast(func.sum(_column[name]), BigInteger).label(name) for name in USAGE)
    statement = select(*sums).where(
        _column.project_id == project_id, _column.session_id == session_id
    )
    return connection.execute(statement).mappings().one()
