"""The migrations make what the metadata says, and know how old a database is."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.store.opening import opened
from toolfold.errors import DatabaseError
from toolfold.settings import Settings
from toolfold.store import engine, migrations
from toolfold.store.engine import Database
from toolfold.store.tables import metadata

NEXT_REVISION = '''
"""Add a table."""
from alembic import op
import sqlalchemy as sa

revision = "0002"
down_revision = "0001"

def upgrade() -> None:
'''
ADD_TABLE = '    op.create_table("addition", sa.Column("id", sa.Text(), primary_key=True))\n'
FAIL = '    op.execute("SELECT absent FROM nowhere")\n'
REBUILD_TABLE = """
    with op.batch_alter_table("project", recreate="always") as table:
        table.add_column(sa.Column("colour", sa.Text()))
"""
BREAK_REFERENCE = """
    op.execute(
        "INSERT INTO content (project_id, hash, size, media_type, chunk_size, base_size)"
        " VALUES ('absent', x'00', 1, 'text/plain', 1, 0)"
    )
"""


def structure(connection: Connection) -> dict[str, Any]:
    """Return all that the database says of its tables, but for Alembic's own."""
    inspector = inspect(connection)
    return {
        table: {
            "columns": [
                {**column, "type": str(column["type"])} for column in inspector.get_columns(table)
            ],
            "primary key": inspector.get_pk_constraint(table),
            "foreign keys": _by_name(inspector.get_foreign_keys(table)),
            "unique": _by_name(inspector.get_unique_constraints(table)),
            "indexes": _by_name(
                # A partial index's condition is an object, equal to no other.
                [
                    {**index, "dialect_options": _texts(index)}
                    for index in inspector.get_indexes(table)
                ]
            ),
            "checks": _by_name(inspector.get_check_constraints(table)),
        }
        for table in inspector.get_table_names()
        if table != "alembic_version"
    }


def _make_as_the_metadata_says(connection: Connection) -> None:
    metadata.drop_all(connection)
    metadata.create_all(connection)


def _texts(index: Any) -> dict[str, str]:
    return {name: str(option) for name, option in index.get("dialect_options", {}).items()}


def _by_name(found: list[Any]) -> dict[str, Any]:
    return {item["name"]: item for item in found}


async def test_the_migrations_make_what_the_metadata_says(
    database: Database, empty_database_settings: Settings
) -> None:
    async with opened(empty_database_settings, create=True) as other:
        await other.write(_make_as_the_metadata_says)
        async with database.read() as migrated, other.read() as created:
            expected = await created.run_sync(structure)
            assert await migrated.run_sync(structure) == expected
            assert set(expected) == set(metadata.tables)
            assert sum(len(table["checks"]) for table in expected.values()) == 9
            differences = await migrated.run_sync(
                lambda connection: compare_metadata(
                    MigrationContext.configure(connection), metadata
                )
            )
        assert differences == []


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_tables_without_rowid_are_those_of_the_metadata(database: Database) -> None:
    async with database.read() as connection:
        found = await connection.execute(text("SELECT name FROM pragma_table_list WHERE wr"))
        names = {row.name for row in found}
    assert "message" in names
    assert names == {
        table.name
        for table in metadata.tables.values()
        if table.dialect_options["sqlite"]["with_rowid"] is False
    }


async def test_what_refers_to_a_row_is_found_by_an_index(database: Database) -> None:
    async with database.read() as connection:
        tables = await connection.run_sync(structure)
    not_found = [
        (name, key["constrained_columns"])
        for name, table in tables.items()
        for key in table["foreign keys"].values()
        if not any(
            set(columns[: len(key["constrained_columns"])]) == set(key["constrained_columns"])
            for columns in (
                table["primary key"]["constrained_columns"],
                *(index["column_names"] for index in table["indexes"].values()),
            )
        )
    ]
    assert not_found == []


async def test_a_database_of_a_version_that_is_not_known_is_refused(
    database_settings: Settings,
) -> None:
    await _set_revision(database_settings, "9999")
    with pytest.raises(DatabaseError, match="another version of Toolfold"):
        await Database.open(database_settings, create=True)
    with pytest.raises(DatabaseError, match="another version of Toolfold"):
        await engine.migrate(database_settings)


async def test_an_older_database_is_refused_until_it_is_migrated(
    database_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _add_revision(tmp_path / "scripts", monkeypatch)
    with pytest.raises(DatabaseError, match="`toolfold migrate` upgrades it"):
        await Database.open(database_settings, create=True)
    await engine.migrate(database_settings)
    async with opened(database_settings) as database, database.read() as connection:
        assert "addition" in await _table_names(connection)


async def test_a_migration_that_fails_leaves_the_database_as_it_was(
    database_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as context:
        _add_revision(tmp_path / "scripts", context, ADD_TABLE + FAIL)
        with pytest.raises(DatabaseError, match=r"^The database cannot be used: .*nowhere"):
            await engine.migrate(database_settings)
    async with opened(database_settings) as database, database.read() as connection:
        assert "addition" not in await _table_names(connection)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_migration_may_rebuild_a_table_that_others_refer_to(
    database_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _add_revision(tmp_path / "scripts", monkeypatch, REBUILD_TABLE)
    await engine.migrate(database_settings)
    async with opened(database_settings) as database, database.read() as connection:
        found = await connection.execute(text("SELECT id, colour FROM project"))
        assert [tuple(row) for row in found] == [("default", None)]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_migration_that_breaks_references_is_undone(
    database_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as context:
        _add_revision(tmp_path / "scripts", context, BREAK_REFERENCE)
        with pytest.raises(DatabaseError, match="would break references of content"):
            await engine.migrate(database_settings)
    async with opened(database_settings) as database, database.read() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM content"))).scalar() == 0


async def test_the_revisions_are_those_that_alembic_finds_in_its_order() -> None:
    scripts = ScriptDirectory(migrations.SCRIPTS)
    found = [script.revision for script in scripts.walk_revisions()]
    assert migrations.revisions() == found[::-1]


async def test_migrating_an_empty_database_makes_it(empty_database_settings: Settings) -> None:
    await engine.migrate(empty_database_settings)
    async with opened(empty_database_settings) as database, database.read() as connection:
        assert "message" in await _table_names(connection)


def _add_revision(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str = ADD_TABLE) -> None:
    """Let the migrations have one revision more, which does what `body` says."""
    shutil.copytree(Path(migrations.__file__).parent, folder)
    (folder / "versions" / "0002_addition.py").write_text(NEXT_REVISION + body, encoding="utf-8")
    monkeypatch.setattr(migrations, "SCRIPTS", folder)


async def _set_revision(settings: Settings, revision: str) -> None:
    async with opened(settings) as database:
        statement = text("UPDATE alembic_version SET version_num = :revision")
        await database.write(
            lambda connection: connection.execute(statement, {"revision": revision}).close()
        )


async def _table_names(connection: AsyncConnection) -> list[str]:
    return await connection.run_sync(lambda sync: inspect(sync).get_table_names())
