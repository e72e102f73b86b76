"""Projects made, renamed and removed by whoever manages them."""

import uuid
from datetime import datetime

from sqlalchemy import Connection, RowMapping

from toolfold.errors import InvalidInputError, UnknownIdError
from toolfold.ingest.preparation import timestamp
from toolfold.store.project import DEFAULT_ID
from toolfold.store.recording import project, session


def create(connection: Connection, name: str, *, now: datetime) -> str:
    """Make a project and return its id.

    Raises:
        InvalidInputError: if its name is taken.
    """
    _require_free(connection, name)
    project_id = str(uuid.uuid4())
    project.add(connection, {"id": project_id, "name": name, "created_at": timestamp(now)})
    return project_id


def rename(connection: Connection, project_id: str, name: str) -> None:
    """Give a project another name.

    Raises:
        UnknownIdError: if there is no such project.
        InvalidInputError: if the name is taken, or the project is `default`.
    """
    row = _existing(connection, project_id)
    if name == row["name"]:
        return
    if project_id == DEFAULT_ID:
        raise InvalidInputError("The project `default` keeps its name.", "id")
    _require_free(connection, name)
    project.rename(connection, project_id, name)


def remove(connection: Connection, project_id: str) -> list[str]:
    """Delete a project with all that is in it; return the ids of the sessions that it had.

    Raises:
        UnknownIdError: if there is no such project.
        InvalidInputError: if it is `default`, which is always there.
    """
    _existing(connection, project_id)
    if project_id == DEFAULT_ID:
        raise InvalidInputError("The project `default` cannot be deleted.", "id")
    session_ids = session.all_of(connection, project_id)
    project.remove(connection, project_id)
    return session_ids


def require(connection: Connection, project_id: str, *path: str) -> RowMapping:
    """Return a project's row.

    Raises:
        UnknownIdError: with this path, if there is no such project.
    """
    row = project.by_id(connection, project_id)
    if row is None:
        raise UnknownIdError("There is no such project.", *path)
    return row


def _existing(connection: Connection, project_id: str) -> RowMapping:
    return require(connection, project_id, "id")


def _require_free(connection: Connection, name: str) -> None:
    if project.by_name(connection, name) is not None:
        raise InvalidInputError(f"There is a project named {name!r} already.", "name")
