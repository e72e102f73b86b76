"""Messages of a session: pages, rows by key and counts, each reading only the columns asked for.

A message's key is (project id, session id, sequence). No statement here reads heavy bytes. The
text of a message is a column up to 16 KiB; over 1 KiB it is read from a table of its own, and only
if it is asked for.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Select,
    Text,
    bindparam,
    case,
    cast,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.readable import PREVIEW_CHARACTERS
from toolfold.settings import MAX_BIG_INT
from toolfold.store import page as pages
from toolfold.store.fetching import MakeRows, Query, Reading, fetch, run
from toolfold.store.page import Ordering, Page, PageRequest
from toolfold.store.selection import is_key, one_of, pick
from toolfold.store.tables import message_table, message_text_table, session_table

Key = tuple[str, str, int]
"""(project id, session id, sequence)."""

KEY_COLUMNS = ("project_id", "session_id", "sequence")
POSITION_COLUMNS = ("sequence",)
"""The columns whose values are a message's place in a page."""

MAX_TEXT_BYTES = 16 * 1024
"""A longer text is stored as a content."""

TEXT: ColumnElement[str] = func.coalesce(
    message_table.c.content,
    select(message_text_table.c.text)
    .where(*(message_text_table.c[name] == message_table.c[name] for name in KEY_COLUMNS))
    .correlate(message_table)
    .scalar_subquery(),
).label("content")
"""The text of a message wherever it is stored; null over 16 KiB, when it is a content."""

EXPRESSIONS: dict[str, ColumnElement[Any]] = {
    **message_table.columns,
    "content": TEXT,
    # A text that is in the row is its own preview.
    "content_preview": func.coalesce(
        message_table.c.content_preview, func.substr(message_table.c.content, 1, PREVIEW_CHARACTERS)
    ).label("content_preview"),
}
"""What each column that can be asked for is read by; every message has a `content_preview`."""

COLUMNS = tuple(EXPRESSIONS)

_ordering = Ordering((message_table.c.sequence,))
_by_revision = Ordering((message_table.c.revision,))


def sum_of(column: ColumnElement[int]) -> ColumnElement[int]:
    """Return the sum of a column's numbers, at most `MAX_BIG_INT`; null if there is none.

    SQLite fails where integers add up to more than 64 bits. Floats are exact as far as is asked.
    """
    total = func.sum(cast(column, Double))
    return case(
        (total >= MAX_BIG_INT, literal(MAX_BIG_INT, BigInteger)), else_=cast(total, BigInteger)
    )


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages are meant; None does not restrict, and an empty list meets none.

    The values are those of the columns: lower-case roles, kinds and statuses. `min_content_size`
    is in bytes, of the text or of the tool call's content.
    """

    roles: Collection[str] | None = None
    tool_kinds: Collection[str] | None = None
    tool_names: Collection[str] | None = None
    tool_status: Collection[str] | None = None
    min_content_size: int | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions that a message meets; none if nothing is restricted."""
        columns = message_table.c
        allowed = (
            (columns.role, self.roles),
            (columns.tool_kind, self.tool_kinds),
            (columns.tool_name, self.tool_names),
            (columns.tool_status, self.tool_status),
        )
        conditions: list[ColumnElement[bool]] = [
            column.in_(list(values)) for column, values in allowed if values is not None
        ]
        if self.min_content_size is not None:
            sizes = (columns.content_size, columns.tool_content_size)
            least = literal(self.min_content_size, BigInteger)
            conditions.append(or_(*(size >= least for size in sizes)))
        return conditions


ALL = MessageFilter()


@dataclass(frozen=True, slots=True)
class Around:
    """A page of `size` rows with the message at `sequence` in its middle."""

    sequence: int
    size: int
    with_page_info: bool = False


async def page(  # noqa: PLR0913 - a key, a request, and what is made of each message.
    connection: AsyncConnection,
    project_id: str,
    session_id: str,
    request: PageRequest,
    *,
    columns: Sequence[str],
    where: MessageFilter = ALL,
    make_rows: MakeRows | None = None,
) -> Page:
    """Read a page in order of sequence; the request's keys are (sequence,)."""
    return await run(
        connection,
        page_reading(
            project_id, session_id, request, columns=columns, where=where, make_rows=make_rows
        ),
    )


def page_reading(
    project_id: str,
    session_id: str,
    request: PageRequest,
    *,
    columns: Sequence[str],
    where: MessageFilter = ALL,
    make_rows: MakeRows | None = None,
) -> Reading[Page]:
    """As `page`, for what is read together with it."""
    session = _in_session(project_id, session_id)
    selection = _filtered(tuple(columns), where)
    return pages.reading(selection, _ordering, request, session, make_rows)


async def page_around(  # noqa: PLR0913 - as of `page`.
    connection: AsyncConnection,
    project_id: str,
    session_id: str,
    around: Around,
    *,
    columns: Sequence[str],
    where: MessageFilter = ALL,
    make_rows: MakeRows | None = None,
) -> Page:
    """Read the page whose middle is a given message; near an end of the session it is still full.

    The message need not exist or meet the filter: the page is centred where it would stand.
    """
    selection = _filtered(POSITION_COLUMNS, where)
    session = _in_session(project_id, session_id)
    from_here = PageRequest(first=around.size, after=(around.sequence - 1,))
    following = (await pages.read(connection, selection, _ordering, from_here, session)).rows
    wanted = max(around.size // 2, around.size - len(following))
    up_to_here = PageRequest(last=wanted, before=(around.sequence,))
    preceding = (await pages.read(connection, selection, _ordering, up_to_here, session)).rows
    start = preceding[0].sequence if preceding else around.sequence
    request = PageRequest(
        first=around.size, after=(start - 1,), with_page_info=around.with_page_info
    )
    given: dict[str, Any] = {"columns": columns, "where": where, "make_rows": make_rows}
    return await page(connection, project_id, session_id, request, **given)


async def changed_after(
    connection: AsyncConnection,
    project_id: str,
    session_id: str,
    revision: int,
    *,
    limit: int,
    columns: Sequence[str],
) -> Sequence[Any]:
    """Return the first `limit` messages that changed after a revision, in order of revision.

    Each comes once, as it is now; one range of the index whatever the revision.
    """
    request = PageRequest(first=limit, after=(revision,))
    session = _in_session(project_id, session_id)
    selection = _selection(tuple(columns))
    return (await pages.read(connection, selection, _by_revision, request, session)).rows


async def by_keys(
    connection: AsyncConnection, keys: Collection[Key], columns: Sequence[str] = COLUMNS
) -> dict[Key, Any]:
    """Return the row of each key that exists; the key's columns come last if not asked for."""
    if not keys:
        return {}
    if len(keys) == 1:
        (key,) = keys
        given = dict(zip(KEY_COLUMNS, key, strict=True))
        rows = await fetch(connection, _by_key(tuple(columns)), given)
    else:
        selection = select(*pick(EXPRESSIONS, columns, KEY_COLUMNS))
        key_columns = pick(message_table.columns, KEY_COLUMNS)
        rows = await fetch(connection, selection.where(one_of(connection, key_columns, keys)))
    return {(row.project_id, row.session_id, row.sequence): row for row in rows}


def key_reading(key: Key, columns: Sequence[str]) -> Reading[Any]:
    """Read the row of a key, the key's columns as in `by_keys`; None if there is none."""
    found = yield Query(_by_key(tuple(columns)), dict(zip(KEY_COLUMNS, key, strict=True)))
    return found[0] if found else None


async def count(
    connection: AsyncConnection, project_id: str, session_id: str, where: MessageFilter = ALL
) -> int:
    """Count the messages that meet the filter; without one the session's row knows."""
    statement: Select[Any]
    if where.conditions():
        matching = _within(project_id, session_id, where)
        statement = select(func.count()).select_from(message_table).where(*matching)
    else:
        statement = select(session_table.c.message_count).where(
            session_table.c.project_id == project_id, session_table.c.id == session_id
        )
    return (await connection.execute(statement)).scalar() or 0


@lru_cache(maxsize=256)
def _by_key(columns: tuple[str, ...]) -> Select[Any]:
    """Return the selection of one message; to make it takes longer than to read with it."""
    selection = select(*pick(EXPRESSIONS, columns, KEY_COLUMNS))
    return selection.where(is_key(pick(message_table.columns, KEY_COLUMNS)))


@lru_cache(maxsize=256)
def _selection(columns: tuple[str, ...]) -> Select[Any]:
    """Return the selection of a session's messages, whose parameters are `_in_session`."""
    of_session = (
        message_table.c[name] == bindparam(name, type_=Text)
        for name in ("project_id", "session_id")
    )
    return select(*pick(EXPRESSIONS, columns)).where(*of_session)


def _filtered(columns: tuple[str, ...], where: MessageFilter) -> Select[Any]:
    """Return the selection of a session's messages that meet a filter, the same each time."""
    hashable = MessageFilter(
        _tuple(where.roles),
        _tuple(where.tool_kinds),
        _tuple(where.tool_names),
        _tuple(where.tool_status),
        where.min_content_size,
    )
    return _restricted(columns, hashable)


def _tuple(values: Collection[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


@lru_cache(maxsize=256)
def _restricted(columns: tuple[str, ...], where: MessageFilter) -> Select[Any]:
    """As `_filtered`: to make a selection takes longer than to read fifty rows with it."""
    conditions = where.conditions()
    selection = _selection(columns)
    return selection.where(*conditions) if conditions else selection


def _in_session(project_id: str, session_id: str) -> dict[str, str]:
    return {"project_id": project_id, "session_id": session_id}


def _within(
    project_id: str, session_id: str, where: MessageFilter
) -> tuple[ColumnElement[bool], ...]:
    table = message_table.c
    return (table.project_id == project_id, table.session_id == session_id, *where.conditions())
