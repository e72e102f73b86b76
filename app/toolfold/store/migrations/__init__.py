"""The schema's history, one revision a module in `versions`, for both databases.

Alembic is imported only to change a schema: to load it takes a tenth of a server's start, and
what a start asks is a name in a table and names of files.
"""

import enum
from pathlib import Path

from sqlalchemy import Connection, column, inspect, select, table

SCRIPTS = Path(__file__).parent

_VERSION_TABLE = "alembic_version"
_recorded = select(table(_VERSION_TABLE, column("version_num")))


class SchemaState(enum.Enum):
    """How a database's schema stands to this version of Toolfold."""

    EMPTY = enum.auto()
    CURRENT = enum.auto()
    OLDER = enum.auto()
    UNKNOWN = enum.auto()
    FOREIGN = enum.auto()


def state(connection: Connection) -> SchemaState:
    """Say how the schema stands: UNKNOWN is a version not known here, FOREIGN not Toolfold's."""
    inspector = inspect(connection)
    is_recorded = inspector.has_table(_VERSION_TABLE)
    revision = connection.scalar(_recorded) if is_recorded else None
    if revision is None:
        return SchemaState.FOREIGN if inspector.get_table_names() else SchemaState.EMPTY
    known = revisions()
    if revision == known[-1]:
        return SchemaState.CURRENT
    return SchemaState.OLDER if revision in known else SchemaState.UNKNOWN


def revisions() -> list[str]:
    """Return the revisions that there are, the newest last: the numbers of `NNNN_what.py`."""
    return sorted(path.name[:4] for path in (SCRIPTS / "versions").glob("[0-9]*.py"))


def upgrade(connection: Connection) -> None:
    """Bring the schema up to date inside the connection's transaction."""
    from alembic import command  # noqa: PLC0415 (a start has no need of it)
    from alembic.config import Config  # noqa: PLC0415 (as above)

    configuration = Config()
    configuration.set_main_option("script_location", str(SCRIPTS))
    configuration.set_main_option("path_separator", "os")
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, "head")
