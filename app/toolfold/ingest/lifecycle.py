"""Sessions made, changed and removed by clients, apart from their messages."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping

from toolfold.errors import InvalidInputError, UnknownIdError
from toolfold.ingest import identity, projects, sessions
from toolfold.ingest.columns import Columns
from toolfold.ingest.identity import Identity
from toolfold.ingest.preparation import timestamp
from toolfold.store.recording import removal, session
from toolfold.transcript import SessionStatus


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that a client makes; `client_id` is the client's own name for it."""

    agent: str
    title: str | None = None
    cwd: str | None = None
    client_id: str | None = None
    parent_id: str | None = None
    parent_tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a new session: `is_new` is false for one that was made before."""

    session_id: str
    is_new: bool
    has_agent: bool = True
    """Whether it is the session of the agent that was named."""


def create(connection: Connection, project_id: str, new: NewSession, *, now: datetime) -> Made:
    """Make a session, or find the one that has its client id.

    Raises:
        UnknownIdError: if there is no such project or parent.
    """
    projects.require(connection, project_id, "projectId")
    session_id = _id_of(new)
    stored = session.lock(connection, project_id, {session_id}).get(session_id)
    if stored is not None:
        return Made(session_id, is_new=False, has_agent=stored["agent"] == new.agent)
    if new.parent_id is not None:
        require(connection, project_id, new.parent_id, "parentId")
    time = timestamp(now)
    said: Columns = {
        "title": new.title,
        "status": SessionStatus.ACTIVE.value,
        "cwd": new.cwd,
        "parent_id": new.parent_id,
        "parent_tool_call_id": new.parent_tool_call_id,
        "created_at": time,
        "updated_at": time,
    }
    by_client = Identity(session_id, None, None)
    session.add(connection, sessions.new_row(project_id, by_client, said, agent=new.agent))
    return Made(session_id, is_new=True)


def change(
    connection: Connection, project_id: str, session_id: str, said: Columns, *, now: datetime
) -> int:
    """Give a session a new title or status; return its revision, which grows if that is news.

    Raises:
        UnknownIdError: if there is no such session.
    """
    stored = require(connection, project_id, session_id, "id")
    news = {name: value for name, value in said.items() if stored[name] != value}
    revision: int = stored["head_revision"]
    if not news:
        return revision
    time = max(timestamp(now), stored["updated_at"])
    values = {**news, "head_revision": revision + 1, "updated_at": time}
    session.change(connection, project_id, session_id, values)
    return revision + 1


def remove(connection: Connection, project_id: str, session_id: str) -> list[str]:
    """Delete a session and the sessions of its sub-agents; return the ids of all of them.

    Raises:
        UnknownIdError: if there is no such session.
    """
    require(connection, project_id, session_id, "id")
    session_ids = [session_id, *session.descendants(connection, project_id, session_id)]
    session.lock(connection, project_id, session_ids)
    removal.remove_sessions(connection, project_id, session_ids)
    return session_ids


def require(connection: Connection, project_id: str, session_id: str, *path: str) -> RowMapping:
    """Return a session's row, which no one else can write until the transaction ends.

    Raises:
        UnknownIdError: with this path, if there is no such session.
    """
    row = session.lock(connection, project_id, {session_id}).get(session_id)
    if row is None:
        raise UnknownIdError("There is no such session.", *path)
    return row


def require_open(
    connection: Connection, project_id: str, session_id: str, *path: str
) -> RowMapping:
    """As `require`, of a session that takes messages.

    Raises:
        UnknownIdError: with this path, if there is no such session.
        InvalidInputError: with this path, if it is archived.
    """
    row = require(connection, project_id, session_id, *path)
    check_open(row["status"], *path)
    return row


def check_open(status: str, *path: str) -> None:
    """Refuse a session of this status if it takes no messages.

    Raises:
        InvalidInputError: with this path, if it is archived.
    """
    if status == SessionStatus.ARCHIVED:
        raise InvalidInputError(
            "The session is archived and takes nothing until updateSession reopens it.", *path
        )


def _id_of(new: NewSession) -> str:
    if new.client_id is None:
        return str(uuid.uuid4())
    return identity.of_client(new.client_id)
