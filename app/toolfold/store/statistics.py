"""How large SQLite is to believe the tables to be, so that it finds rows by the right index.

Without statistics SQLite takes a project to have ten rows of anything, and would rather go through
all of its messages than look one up by a second index. Those that it gathers itself are of the
moment, and come too late for the import that fills a new file. So it is told what holds for any
file that is worth caring about: its manual's "Manual Control Of Query Plans Using SQLITE_STAT
Tables".
"""

from sqlalchemy import Connection

_ROWS = 1_000_000
"""Rows of a table, and of a project: the first column of a key hardly tells rows apart."""

_SOME = 1_000
"""Rows with the same first two columns, such as the messages of a session."""

_FEW = 10
"""Rows with the same three columns or more of an index that is not unique."""

_INDEXES = """
SELECT tables.name,
    -- The primary key of a table without rowid is known by the table's name.
    iif(tables.wr AND indexes.origin = 'pk', tables.name, indexes.name),
    (SELECT count(*) FROM pragma_index_info(indexes.name)),
    indexes."unique"
FROM pragma_table_list AS tables JOIN pragma_index_list(tables.name) AS indexes
WHERE tables.schema = 'main' AND tables.type = 'table'
"""


def tell(connection: Connection) -> None:
    """Write the statistics of every index, in the place of any that are there."""
    # There are none of the table of tables: this makes the place for them, or reads them anew.
    connection.exec_driver_sql("ANALYZE sqlite_schema")
    connection.exec_driver_sql("DELETE FROM sqlite_stat1")
    rows = [
        (table, index, _statistics(columns, is_unique=bool(is_unique)))
        for table, index, columns, is_unique in connection.exec_driver_sql(_INDEXES)
    ]
    connection.exec_driver_sql("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", rows)
    connection.exec_driver_sql("ANALYZE sqlite_schema")


def _statistics(columns: int, *, is_unique: bool) -> str:
    """Return the number of rows, then of those with the same first column, first two and so on."""
    alike = [_ROWS, _SOME, *[_FEW] * columns][:columns]
    if is_unique:
        alike[-1] = 1
    return " ".join(map(str, (_ROWS, *alike)))
