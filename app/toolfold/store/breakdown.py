"""Where a session's bytes are: the sizes in its messages' rows, added up by tool.

One statement over the rows of one session. No heavy byte is read.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Row,
    Select,
    Text,
    cast,
    func,
    null,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.message import Key as MessageKey
from toolfold.store.message import sum_of
from toolfold.store.session import Key
from toolfold.store.tables import message_table


@dataclass(frozen=True, slots=True)
class ToolSizes:
    """What the calls of one tool store, in bytes; one name with two kinds is two tools."""

    name: str | None
    kind: str
    call_count: int
    content_size: int
    raw_input_size: int
    raw_output_size: int


@dataclass(frozen=True, slots=True)
class OutputSizes:
    """What one call returned, in stored bytes; `key` is that of the message that carries it."""

    key: MessageKey
    tool_call_id: str
    name: str | None
    title: str | None
    kind: str
    content_size: int
    raw_output_size: int

    @property
    def sequence(self) -> int:
        """The message's place in the session."""
        return self.key[2]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The heaviest tools of a session, how many tools there are, and its largest outputs."""

    tools: list[ToolSizes]
    tool_count: int
    largest_outputs: list[OutputSizes]


async def of_session(connection: AsyncConnection, key: Key, limit: int) -> Breakdown:
    """Return the breakdown of a session, with at most `limit` (over 0) in each of its lists.

    Tools come by the sum of their sizes and outputs by that of content and raw output, the largest
    first; equal tools by name and kind, equal outputs by sequence. An empty output is left out.
    """
    rows = _heaviest_tools(key, limit).union_all(_largest_outputs(key, limit)).order_by("place")
    found = (await connection.execute(rows)).all()
    tools = [row for row in found if row.sequence is None]
    return Breakdown(
        [_tool(row) for row in tools],
        tools[0].tool_count if tools else 0,
        [_output(key, row) for row in found if row.sequence is not None],
    )


def _tool(row: Row[Any]) -> ToolSizes:
    sizes = (row.content_size, row.raw_input_size, row.raw_output_size)
    return ToolSizes(row.name, row.kind, row.call_count, *sizes)


def _output(session: Key, row: Row[Any]) -> OutputSizes:
    call = (row.tool_call_id, row.name, row.title, row.kind)
    return OutputSizes((*session, row.sequence), *call, row.content_size, row.raw_output_size)


def _heaviest_tools(key: Key, limit: int) -> Select[Any]:
    table = message_table.c
    tool = (
        select(
            table.tool_name.label("name"),
            table.tool_kind.label("kind"),
            func.count().label("call_count"),
            *(func.coalesce(sum_of(size), 0).label(name) for name, size in _SIZES.items()),
        )
        .where(*_calls(key))
        .group_by(table.tool_name, table.tool_kind)
        .subquery()
    )
    total = tool.c.content_size + tool.c.raw_input_size + tool.c.raw_output_size
    heaviest = (total.desc(), func.coalesce(tool.c.name, ""), tool.c.kind)
    place = func.row_number().over(order_by=heaviest).label("place")
    ranked = select(*tool.c, func.count().over().label("tool_count"), place).subquery()
    return _rows(dict(ranked.c), ranked.c.place <= limit)


def _largest_outputs(key: Key, limit: int) -> Select[Any]:
    table = message_table.c
    sizes = {name: func.coalesce(size, 0) for name, size in _SIZES.items()}
    total = sizes["content_size"] + sizes["raw_output_size"]
    largest = (
        select(
            table.sequence,
            table.tool_call_id,
            table.tool_name.label("name"),
            table.tool_title.label("title"),
            table.tool_kind.label("kind"),
            *(size.label(name) for name, size in sizes.items()),
        )
        .where(*_calls(key), total > 0)
        .order_by(total.desc(), table.sequence)
        .limit(limit)
        .subquery()
    )
    # A sort with a limit holds that many rows; a window over all calls would sort them all.
    total = largest.c.content_size + largest.c.raw_output_size
    place = func.row_number().over(order_by=(total.desc(), largest.c.sequence))
    return _rows({**dict(largest.c), "place": place})


def _calls(key: Key) -> tuple[ColumnElement[bool], ...]:
    table = message_table.c
    # Every sequence is over 0, and every call has a kind. Told otherwise, SQLite takes an index
    # once it has statistics, and looks up row by row, five times as long, what lies side by side.
    within = (table.project_id == key[0], table.session_id == key[1], table.sequence > 0)
    return (*within, table.tool_kind.is_not(None))


_SIZES = {
    "content_size": message_table.c.tool_content_size,
    "raw_input_size": message_table.c.raw_input_size,
    "raw_output_size": message_table.c.raw_output_size,
}

_COLUMNS = {
    "sequence": Integer,
    "tool_call_id": Text,
    "name": Text,
    "title": Text,
    "kind": Text,
    "call_count": Integer,
    "tool_count": Integer,
    "content_size": BigInteger,
    "raw_input_size": BigInteger,
    "raw_output_size": BigInteger,
    "place": Integer,
}
"""The columns in which tools and outputs come together; a tool has no sequence."""


def _rows(columns: dict[str, Any], *where: ColumnElement[bool]) -> Select[Any]:
    found = [columns.get(name, cast(null(), type_)).label(name) for name, type_ in _COLUMNS.items()]
    return select(*found).where(*where)
