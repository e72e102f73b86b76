"""Parents and children: sub-agents' sessions and the calls that started them, in either order.

A session may name its parent, a call may name the session that it started, both by the agent's
own ids and both before the other is there; whichever comes second joins them.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from toolfold.ingest.columns import Columns
from toolfold.ingest.messages import Messages
from toolfold.store.recording import session


def parent(connection: Connection, row: Columns) -> Columns:
    """Return what a session's row says of its parent, as far as that is there already."""
    if row["source_format"] is None or row["parent_id"] is not None:
        return {}
    source = row["project_id"], row["source_format"]
    named = row["parent_source_session"]
    caller = session.caller(connection, *source, row["source_session"])
    if caller is not None and named in (None, caller["source_session"]):
        return {
            "parent_id": caller["session_id"],
            "parent_source_session": caller["source_session"],
            "parent_tool_call_id": row["parent_tool_call_id"] or caller["tool_call_id"],
        }
    if named is None or named == row["source_session"]:
        return {}
    return {"parent_id": session.id_by_source(connection, *source, named)}


def adopt_waiting(connection: Connection, row: Mapping[str, Any]) -> None:
    """Join the sessions that name this new one as their parent."""
    if row["source_session"] is not None:
        session.adopt_waiting(connection, row)


def join_children(connection: Connection, row: Mapping[str, Any], messages: Messages) -> None:
    """Join the sessions that this one's new or changed calls say they started."""
    if row["source_session"] is None:
        return
    for called in (*messages.added, *messages.changed):
        child = called["child_source_session"]
        before = messages.before(called)
        is_news = before is None or before["child_source_session"] != child
        if child is not None and child != row["source_session"] and is_news:
            session.join_child(connection, row, child, called["tool_call_id"])
