"""Selections of contents by their keys, each made once: to make one takes longer than to read."""

from collections.abc import Collection
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Select, Text, bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.chunks import Key
from toolfold.store.fetching import Query
from toolfold.store.selection import is_key, one_of


class ByHash:
    """A selection from a table whose `project_id` and `hash` are the key of a content."""

    def __init__(
        self, selection: Select[Any], project_id: ColumnElement[Any], digest: ColumnElement[Any]
    ) -> None:
        self._selection = selection
        self._columns = (project_id, digest)
        self._one = selection.where(is_key(self._columns))
        hashes = func.json_each(bindparam("hashes", type_=Text)).table_valued("value")
        given = select(func.unhex(hashes.c.value)).scalar_subquery()
        of_project = project_id == bindparam("project_id", type_=Text)
        self._many_on_sqlite = selection.where(of_project, digest.in_(given))

    def query(self, connection: AsyncConnection, keys: Collection[Key]) -> Query:
        """Return the query for the rows of these keys."""
        projects = {project_id for project_id, _ in keys}
        if len(keys) == 1:
            ((project_id, digest),) = keys
            return Query(self._one, {"project_id": project_id, "hash": digest})
        if len(projects) == 1 and connection.dialect.name == "sqlite":
            hashes = orjson.dumps([digest.hex() for _, digest in keys]).decode()
            return Query(self._many_on_sqlite, {"project_id": projects.pop(), "hashes": hashes})
        return Query(self._selection.where(one_of(connection, self._columns, keys)))
