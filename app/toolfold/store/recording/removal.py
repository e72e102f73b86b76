"""Sessions removed, with all that belongs to them alone."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select

from toolfold.store.recording import source
from toolfold.store.recording.content import delete_unused
from toolfold.store.recording.rows import portions
from toolfold.store.tables import (
    attachment_table,
    content_reference_table,
    message_table,
    message_text_table,
    session_table,
)


def remove_sessions(connection: Connection, project_id: str, session_ids: Sequence[str]) -> None:
    """Delete sessions: their messages, and the contents that nothing else uses.

    Every file that told of one of them may then be imported anew.
    """
    used: set[bytes] = set()
    for portion in portions(session_ids):
        reference = content_reference_table.c
        statement = select(reference.hash).where(
            reference.project_id == project_id, reference.session_id.in_(portion)
        )
        used.update(connection.execute(statement.distinct()).scalars())
        source.forget_sessions(connection, project_id, portion)
        for table, column in (
            (content_reference_table, reference.session_id),
            (attachment_table, attachment_table.c.session_id),
            (message_text_table, message_text_table.c.session_id),
            (message_table, message_table.c.session_id),
            (session_table, session_table.c.id),
        ):
            connection.execute(
                delete(table).where(table.c.project_id == project_id, column.in_(portion))
            )
    for hashes in portions(used):
        delete_unused(connection, project_id, hashes)
