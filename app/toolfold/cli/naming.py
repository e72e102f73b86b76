"""What people type to name a session or a project, and what they mean by it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from toolfold.cli.options import command_with
from toolfold.cli.terminal import count, one_line
from toolfold.errors import BadUserInputError, NotFoundError
from toolfold.schema.global_id import SessionKey, session_key
from toolfold.settings import Settings
from toolfold.store import project, session
from toolfold.store.engine import Database

_COLUMNS = ("project_id", "id", "title")


async def project_id_of(database: Database, name: str) -> str:
    """Return the id of the project with this name.

    Raises:
        NotFoundError: if there is none.
    """
    async with database.read() as connection:
        row = await project.by_name(connection, name)
    if row is None:
        raise NotFoundError(f"There is no project {name!r}; `toolfold import --project` makes one.")
    return str(row.id)


async def session_of(
    database: Database, settings: Settings, text: str, project_name: str | None
) -> SessionKey:
    """Return the key of the session that `text` means.

    It is the session's id as `toolfold list` or GraphQL shows it, the agent's own id, or the
    beginning of one of them that only one session has, those of sub-agents aside.

    Raises:
        BadUserInputError: if it is blank, and would mean every session.
        NotFoundError: if there is none, or more than one.
    """
    if not text.strip():
        raise BadUserInputError("SESSION is empty: it names no session.", argument="session")
    key = session_key(text)
    projects = None if project_name is None else [await project_id_of(database, project_name)]
    async with database.read() as connection:
        found = await session.by_source(
            connection, projects, text if key is None else key[1], _COLUMNS
        )
    if key is not None:
        found = [row for row in found if (row.project_id, row.id) == key]
    if len(found) == 1:
        return found[0].project_id, found[0].id
    if not found:
        hint = command_with(settings, "list --children")
        raise NotFoundError(f"There is no session {text!r}. `{hint}` shows those that there are.")
    raise NotFoundError(_ambiguous(text, found))


def _ambiguous(text: str, found: Sequence[Row[Any]]) -> str:
    shown = ", ".join(f"{row.id} ({one_line(row.title, 30)})" for row in found[:3])
    number = count(len(found), "session")
    return f"{text!r} may be any of {number}: {shown}… Give more of the id, or --project."
