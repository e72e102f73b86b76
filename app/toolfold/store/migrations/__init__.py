"""The schema's history, one revision a module in `versions`, for both databases."""

import enum

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

SCRIPTS = "toolfold.store:migrations"


class SchemaState(enum.Enum):
    """How a database's schema stands to this version of Toolfold."""

    EMPTY = enum.auto()
    CURRENT = enum.auto()
    OLDER = enum.auto()
    UNKNOWN = enum.auto()
    FOREIGN = enum.auto()


def state(connection: Connection) -> SchemaState:
    """Say how the schema stands: UNKNOWN is a version not known here, FOREIGN not Toolfold's."""
    revision = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(_configuration())
    if revision is None:
        return SchemaState.FOREIGN if inspect(connection).get_table_names() else SchemaState.EMPTY
    if revision == scripts.get_current_head():
        return SchemaState.CURRENT
    known = {script.revision for script in scripts.walk_revisions()}
    return SchemaState.OLDER if revision in known else SchemaState.UNKNOWN


def upgrade(connection: Connection) -> None:
    """Bring the schema up to date inside the connection's transaction."""
    configuration = _configuration()
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, "head")


def _configuration() -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", SCRIPTS)
    configuration.set_main_option("path_separator", "os")
    return configuration
