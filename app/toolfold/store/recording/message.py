"""Messages: found by what their source calls them, added, and changed.

The rows given and returned here have a text of up to 16 KiB in `content` and a preview of any in
`content_preview`, wherever these are stored.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    RowMapping,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    select,
    update,
)

from toolfold.store.message import COLUMNS, EXPRESSIONS, KEY_COLUMNS, sum_of
from toolfold.store.recording.rows import Values, insert_all, portions, table_of, values_of
from toolfold.store.selection import pick
from toolfold.store.tables import message_table, message_text_table

USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
"""The columns of a message's usage, and of its session's."""

MAX_ROW_TEXT_BYTES = 1024
"""A longer text is not in its message's row; it would make the row slow to list."""

_column = message_table.c


def by_client_ids(
    connection: Connection, project_id: str, session_id: str, client_ids: Collection[str]
) -> dict[str, RowMapping]:
    """Return the rows of the messages that exist, by client id."""
    rows = _rows(connection, project_id, session_id, "client_id", client_ids)
    return {row["client_id"]: row for row in rows}


def by_tool_call_ids(
    connection: Connection, project_id: str, session_id: str, tool_call_ids: Collection[str]
) -> dict[str, RowMapping]:
    """Return the rows of the calls that exist, by tool call id; of several the latest."""
    rows = _rows(connection, project_id, session_id, "tool_call_id", tool_call_ids)
    return {row["tool_call_id"]: row for row in rows}


def _rows(
    connection: Connection,
    project_id: str,
    session_id: str,
    column: str,
    values: Collection[str],
) -> list[RowMapping]:
    """Return the session's rows whose `column` has one of the values, by sequence."""
    dialect = connection.dialect
    sequences_of, rows_of = _lookup(dialect, column)
    session = {"in_project": project_id, "in_session": session_id}
    found: list[RowMapping] = []
    for portion in portions(values):
        wanted = {"wanted": values_of(dialect, portion)}
        sequences = connection.execute(sequences_of, session | wanted).scalars()
        known = sorted(set(sequences) - {None})
        if known:
            found += connection.execute(rows_of, {**session, "sequences": known}).mappings()
    return sorted(found, key=itemgetter("sequence"))


@lru_cache(maxsize=64)
def _lookup(dialect: Dialect, column: str) -> tuple[Select[Any], Select[Any]]:
    """Return what looks for a session's messages by a column: their sequences, then their rows.

    To make these statements takes longer than to run them.
    """
    in_session = and_(
        _column.project_id == bindparam("in_project"),
        _column.session_id == bindparam("in_session"),
    )
    wanted = table_of(dialect, "wanted")
    # The outer join makes SQLite look up each value: it believes sessions to be so short
    # that it would rather go through all of the session's messages once.
    each = wanted.outerjoin(message_table, and_(in_session, _column[column] == wanted.c.value))
    return (
        select(_column.sequence).select_from(each),
        select(*pick(EXPRESSIONS, COLUMNS)).where(
            in_session, _column.sequence.in_(bindparam("sequences", expanding=True))
        ),
    )


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
        insert_all(connection, message_table, [_in_table(row) for row in rows])
        _add_texts(connection, rows)


def replace(connection: Connection, rows: Sequence[Values]) -> None:
    """Give messages new values; every row has every column, and its key stays."""
    if not rows:
        return
    keys = [{f"{name}_of_row": row[name] for name in KEY_COLUMNS} for row in rows]
    # A key that is set, though to the same value, makes PostgreSQL lock what refers to it.
    settable = [name for name in COLUMNS if name not in KEY_COLUMNS]
    parameters = [
        {name: values[name] for name in settable} | key
        for values, key in zip(map(_in_table, rows), keys, strict=True)
    ]
    connection.execute(update(message_table).where(*_is_row(message_table)), parameters)
    connection.execute(delete(message_text_table).where(*_is_row(message_text_table)), keys)
    _add_texts(connection, rows)


def _is_row(table: Table) -> list[ColumnElement[bool]]:
    return [table.c[name] == bindparam(f"{name}_of_row") for name in KEY_COLUMNS]


def _has_text_apart(row: Values) -> bool:
    return row["content"] is not None and row["content_size"] > MAX_ROW_TEXT_BYTES


def _in_table(row: Values) -> Values:
    """Return what `message` holds of a row: its text, or else a preview of it."""
    if row["content"] is None:
        return row
    return {**row, "content" if _has_text_apart(row) else "content_preview": None}


def _add_texts(connection: Connection, rows: Sequence[Values]) -> None:
    """Insert the texts that are not in their messages' rows."""
    texts = [
        {**{name: row[name] for name in KEY_COLUMNS}, "text": row["content"]}
        for row in rows
        if _has_text_apart(row)
    ]
    insert_all(connection, message_text_table, texts)


def usage_sums(connection: Connection, project_id: str, session_id: str) -> RowMapping:
    """Return the sum of each column of `USAGE`; null where no message has any."""
    sums = (sum_of(_column[name]).label(name) for name in USAGE)
    statement = select(*sums).where(
        _column.project_id == project_id, _column.session_id == session_id
    )
    return connection.execute(statement).mappings().one()
