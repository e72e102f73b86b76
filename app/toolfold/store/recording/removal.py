"""Sessions removed, with all that belongs to them alone."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select

from toolfold.store.recording.content import delete_unused
from toolfold.store.recording.rows import portions
from toolfold.store.tables import (
    attachment_table,
    content_reference_table,
    message_table,
    message_text_table,
    record_table,
    session_table,
    source_table,
)


def remove_sessions(connection: Connection, project_id: str, session_ids: Sequence[str]) -> None:
    """Delete sessions: their messages, the contents that nothing else uses, and their sources.

    A source that is gone lets its file be imported anew.
    """
    used: set[bytes] = set()
    for portion in portions(session_ids):
        reference = content_reference_table.c
        statement = select(reference.hash).where(
            reference.project_id == project_id, reference.session_id.in_(portion)
        )
        used.update(connection.execute(statement.distinct()).scalars())
        _delete_sources(connection, project_id, portion)
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


def _delete_sources(connection: Connection, project_id: str, session_ids: list[str]) -> None:
    source, record = source_table.c, record_table.c
    theirs = select(source.id).where(
        source.project_id == project_id, source.session_id.in_(session_ids)
    )
    connection.execute(
        delete(record_table).where(record.project_id == project_id, record.source_id.in_(theirs))
    )
    connection.execute(
        delete(source_table).where(
            source.project_id == project_id, source.session_id.in_(session_ids)
        )
    )
