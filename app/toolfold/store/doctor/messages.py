"""Checks of what a message says of its heavy parts."""

from collections.abc import AsyncIterator
from typing import Any

from sqlalchemy import (
    Select,
    Table,
    and_,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.doctor.finding import Finding, message_place
from toolfold.store.message import KEY_COLUMNS, TEXT
from toolfold.store.tables import (
    attachment_table,
    content_reference_table,
    content_table,
    message_table,
    message_text_table,
)

PARTS = ("tool_content", "raw_input", "raw_output", "content")
"""Each heavy part; the message has its size and hash in `<part>_size` and `<part>_hash`."""

_KEY = ("session_id", "sequence")


async def references(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `content-reference`: a part without its reference, or a reference without its part."""
    used = union_all(*(_used(project_id, part) for part in PARTS), _used_by_attachments(project_id))
    column = content_reference_table.c
    referred = select(column.session_id, column.sequence, column.part, column.hash).where(
        column.project_id == project_id
    )
    used_rows, referred_rows = used.subquery("used"), referred.subquery("referred")
    for statement, detail in (
        (_only_in(used_rows, referred_rows), "has no reference to its content"),
        (_only_in(referred_rows, used_rows), "is referred to, and the message has no such part"),
    ):
        async for row in await connection.stream(statement):
            place = message_place(row.session_id, row.sequence)
            yield Finding("content-reference", place, f"{row.part} {detail}")


def _used(project_id: str, part: str) -> Select[Any]:
    column = message_table.c
    digest = column[f"{part}_hash"]
    return select(
        column.session_id, column.sequence, literal(part).label("part"), digest.label("hash")
    ).where(column.project_id == project_id, digest.is_not(None))


def _used_by_attachments(project_id: str) -> Select[Any]:
    column = attachment_table.c
    part = literal("attachment").label("part")
    statement = select(column.session_id, column.sequence, part, column.hash)
    return statement.where(column.project_id == project_id)


def _only_in(rows: Any, others: Any) -> Any:
    difference = select(rows).except_(select(others)).subquery("difference")
    return select(difference).order_by(*(difference.c[name] for name in (*_KEY, "part")))


async def sizes(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `message-size`: a size that is not the content's, or stands without a content."""
    for part in PARTS:
        async for row in await connection.stream(_wrong_sizes(project_id, part)):
            detail = f"{part} is said to have {row.stated} bytes, and its content has {row.found}"
            yield Finding("message-size", message_place(row.session_id, row.sequence), detail)
    async for row in await connection.stream(_wrong_text_sizes(project_id)):
        detail = f"its text is said to have {row.content_size} bytes, and has {row.found}"
        yield Finding("message-size", message_place(row.session_id, row.sequence), detail)


def _wrong_sizes(project_id: str, part: str) -> Select[Any]:
    column = message_table.c
    stated, digest = column[f"{part}_size"], column[f"{part}_hash"]
    wrong = content_table.c.size != stated
    # A short message text has a size and no content; any other part has both or neither.
    alone = digest.is_not(None) if part == "content" else or_(digest.is_not(None), stated != 0)
    return (
        _with_content(message_table, digest, stated, project_id)
        .where(or_(wrong, and_(content_table.c.hash.is_(None), alone)))
        .order_by(column.session_id, column.sequence)
    )


def _with_content(table: Table, digest: Any, stated: Any, project_id: str) -> Select[Any]:
    """Select the key of each row of `table`, its stated size, and that of its content."""
    same = and_(content_table.c.project_id == table.c.project_id, content_table.c.hash == digest)
    return (
        select(
            *(table.c[name] for name in _KEY),
            stated.label("stated"),
            content_table.c.size.label("found"),
        )
        .select_from(table.outerjoin(content_table, same))
        .where(table.c.project_id == project_id)
    )


def _wrong_text_sizes(project_id: str) -> Select[Any]:
    column = message_table.c
    # Both databases count UTF-8 bytes so: the text is stored in UTF-8 on either.
    found = func.octet_length(TEXT)
    return (
        select(column.session_id, column.sequence, column.content_size, found.label("found"))
        .where(
            column.project_id == project_id,
            column.content_hash.is_(None),
            found != column.content_size,
        )
        .order_by(column.session_id, column.sequence)
    )


async def texts(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `message-text`: a text that is stored nowhere, or in two places."""
    message, column = message_table.c, message_text_table.c
    same = and_(*(column[name] == message[name] for name in KEY_COLUMNS))
    # That it is in the row and a content, the table itself forbids.
    places = [message.content.is_not(None), message.content_hash.is_not(None)]
    is_apart = column.sequence.is_not(None)
    statement = (
        select(message.session_id, message.sequence, is_apart.label("is_apart"))
        .select_from(message_table.outerjoin(message_text_table, same))
        .where(message.project_id == project_id, or_(*places) == is_apart)
        .order_by(message.session_id, message.sequence)
    )
    async for row in await connection.stream(statement):
        detail = "its text is stored in two places" if row.is_apart else "its text is not stored"
        yield Finding("message-text", message_place(row.session_id, row.sequence), detail)


async def attachments(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `message-attachments`: a count or a size that is not that of the files stored."""
    async for row in await connection.stream(_wrong_attachment_counts(project_id)):
        detail = f"attachment_count is {row.attachment_count}, and {row.found} are stored"
        place = message_place(row.session_id, row.sequence)
        yield Finding("message-attachments", place, detail)
    column = attachment_table.c
    statement = _with_content(attachment_table, column.hash, column.size, project_id)
    wrong = or_(content_table.c.size != column.size, content_table.c.hash.is_(None))
    ordered = statement.where(wrong).order_by(column.session_id, column.sequence, column.position)
    async for row in await connection.stream(ordered):
        detail = (
            f"an attachment is said to have {row.stated} bytes, and its content has {row.found}"
        )
        place = message_place(row.session_id, row.sequence)
        yield Finding("message-attachments", place, detail)


def _wrong_attachment_counts(project_id: str) -> Select[Any]:
    message, column = message_table.c, attachment_table.c
    same = and_(
        column.project_id == message.project_id,
        column.session_id == message.session_id,
        column.sequence == message.sequence,
    )
    found = func.count(column.position)
    return (
        select(message.session_id, message.sequence, message.attachment_count, found.label("found"))
        .select_from(message_table.outerjoin(attachment_table, same))
        .where(message.project_id == project_id)
        .group_by(message.project_id, message.session_id, message.sequence)
        .having(found != message.attachment_count)
        .order_by(message.session_id, message.sequence)
    )


async def states(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `tool-content-state`: a state that contradicts whether there is a content."""
    column = message_table.c
    has_content = column.tool_content_hash.is_not(None)
    wrong = or_(
        and_(column.tool_call_id.is_not(None), column.tool_content_state.is_(None)),
        and_(column.tool_content_state == "none_recorded", has_content),
        and_(column.tool_content_state == "complete", ~has_content),
    )
    statement = select(column.session_id, column.sequence, column.tool_content_state).where(
        column.project_id == project_id, wrong
    )
    ordered = statement.order_by(column.session_id, column.sequence)
    async for row in await connection.stream(ordered):
        detail = f"the state of its content is {row.tool_content_state}, which it is not"
        yield Finding("tool-content-state", message_place(row.session_id, row.sequence), detail)
