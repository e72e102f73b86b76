"""Parents and children: sub-agents' sessions and the calls that started them, in either order.

A session may name its parent, a call may name the session that it started, both by the agent's
own ids and both before the other is there; whichever comes second joins them. A session that
would become its own ancestor is not joined, and no longer names a parent.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection

from toolfold.ingest.columns import Columns
from toolfold.ingest.messages import Messages
from toolfold.store.recording import session

_NO_PARENT = {"parent_id": None, "parent_source_session": None, "parent_tool_call_id": None}


def parent(connection: Connection, row: Columns) -> Columns:
    """Return what a session's row is to say of its parent, as far as that is there already."""
    if row["source_format"] is None or row["parent_id"] is not None:
        return {}
    source = row["project_id"], row["source_format"]
    named = row["parent_source_session"]
    caller = session.caller(connection, *source, row["source_session"])
    found: Columns = {}
    if caller is not None and named in (None, caller["source_session"]):
        found = {
            "parent_id": caller["session_id"],
            "parent_source_session": caller["source_session"],
            "parent_tool_call_id": row["parent_tool_call_id"] or caller["tool_call_id"],
        }
    elif named is not None:
        found = {"parent_id": session.id_by_source(connection, *source, named)}
    is_loop = named == row["source_session"] or _is_above(connection, row, found.get("parent_id"))
    return _NO_PARENT if is_loop else found


def adopt_waiting(connection: Connection, row: Mapping[str, Any]) -> Iterator[str]:
    """Join the sessions that name this new one as their parent, and yield their ids."""
    if row["source_session"] is None:
        return
    for child in session.waiting(connection, row):
        _join(connection, row, child, {"parent_id": row["id"]})
        yield child


def join_children(
    connection: Connection, row: Mapping[str, Any], messages: Messages
) -> Iterator[str]:
    """Join the sessions that new or changed calls say they started, and yield their ids."""
    if row["source_session"] is None:
        return
    for call in (*messages.added, *messages.changed):
        if call["child_source_session"] is None:
            continue
        child = session.awaits_caller(connection, row, call["child_source_session"])
        if child is not None:
            joined = {
                "parent_id": row["id"],
                "parent_source_session": row["source_session"],
                "parent_tool_call_id": call["tool_call_id"],
            }
            _join(connection, row, child, joined)
            yield child


def _join(connection: Connection, row: Mapping[str, Any], child: str, joined: Columns) -> None:
    is_loop = child == row["id"] or child in session.ancestors(
        connection, row["project_id"], row["id"]
    )
    session.change(connection, row["project_id"], child, _NO_PARENT if is_loop else joined)


def _is_above(connection: Connection, row: Columns, parent_id: str | None) -> bool:
    """Say whether a session is its parent's ancestor."""
    if parent_id is None:
        return False
    above = session.ancestors(connection, row["project_id"], parent_id)
    return row["id"] in {parent_id, *above}
