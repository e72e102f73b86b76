"""The tool that reads the messages of a session, by pages."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server import queries
from toolfold.mcp_server.answers import answer, labelled, room, session_words
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.items import Item, ItemMaker
from toolfold.mcp_server.reading import MAX_AT_ONCE, Reader
from toolfold.mcp_server.safe_text import Fence
from toolfold.mcp_server.slices import Body, Slice, Value, stored_sizes
from toolfold.mcp_server.still_reading import Progress
from toolfold.schema.enums import MessageRole, ToolKind, ToolStatus
from toolfold.schema.message import MessageFilter, message_cursor, message_scope

TOGETHER_BYTES = 256 * 1024
"""Stored bytes up to which the parts of several messages are read in one operation."""

_LEAST_BYTES_A_MESSAGE = 400
_BEYOND = "There is no message {}: these are the last ones."
_SEPARATOR = 8
"""What joins an item to the one before it, in both forms."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which messages are asked for; of `after`, `before` and `around` at most one."""

    session_id: str
    after: int | None = None
    before: int | None = None
    around: int | None = None
    roles: Sequence[str] = ()
    kinds: Sequence[str] = ()
    statuses: Sequence[str] = ()
    limit: int | None = None
    max_bytes: int | None = None

    @property
    def is_backwards(self) -> bool:
        """Whether it is the messages before a place, the nearest first."""
        return self.before is not None

    def call(self, *, after: int | None = None, before: int | None = None) -> Call:
        """Return the call of another page under the same filter."""
        return Call.of(
            "get_session_messages",
            session_id=self.session_id,
            after=after,
            before=before,
            roles=list(self.roles) or None,
            kinds=list(self.kinds) or None,
            statuses=list(self.statuses) or None,
            limit=self.limit,
            max_bytes=self.max_bytes,
        )

    def check(self) -> None:
        """Check that the arguments go together.

        Raises:
            ToolError: if more than one place is given.
        """
        names = ("after", "before", "around")
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) > 1:
            raise ToolError(f"Give one of {' and '.join(given)}, not {len(given)} of them.")

    def variables(self, reader: Reader, first: int) -> Value:
        """Return the variables of the document that lists them."""
        where = MessageFilter(
            roles=[MessageRole[role.upper()] for role in self.roles] or None,
            tool_kinds=[ToolKind[kind.upper()] for kind in self.kinds] or None,
            tool_status=[ToolStatus[status.upper()] for status in self.statuses] or None,
        )
        scope = message_scope(reader.key(self.session_id), where)
        given = {
            "roles": [role.upper() for role in self.roles] or None,
            "toolKinds": [kind.upper() for kind in self.kinds] or None,
            "toolStatus": [status.upper() for status in self.statuses] or None,
        }
        variables: Value = {"filter": given}
        if self.before is not None:
            return {**variables, "last": first, "before": message_cursor(scope, self.before)}
        if self.around is not None:
            return {**variables, "first": first, "around": self.around}
        after = message_cursor(scope, self.after) if self.after else None
        return {**variables, "first": first, "after": after}


@dataclass(slots=True)
class Filling:
    """Fills an answer with messages, one after the other, until one does not fit."""

    reader: Reader
    maker: ItemMaker
    left: int
    length: int
    """How many bytes of one part can be of use."""
    items: dict[int, Item] = field(default_factory=dict)
    _read: dict[str, Body] = field(default_factory=dict)

    async def add(self, messages: Sequence[Value], at: int) -> bool:
        """Add the message at a place of these, all in order; say whether the next may fit too."""
        message = messages[at]
        parts = await self._parts(messages, at)
        item = self.maker.item(message, parts)
        if item.cost + _SEPARATOR > self.left:
            item = Item(item.text, item.structured, item.cost, is_whole=False)
        if not item.is_whole:
            # What would be a poor beginning here is a good one of the next answer.
            if self.items and self.left < self.length // 2:
                return False
            item = self.maker.cut(message, parts, self.left - _SEPARATOR)
            if self.items and item.cost + _SEPARATOR > self.left:
                return False
        self.items[message["sequence"]] = item
        self.left -= item.cost + _SEPARATOR
        return item.is_whole

    async def _parts(self, messages: Sequence[Value], at: int) -> dict[str, Slice]:
        message = messages[at]
        if message["id"] not in self._read:
            together: list[Value] = []
            size = 0
            for one in messages[at : at + MAX_AT_ONCE]:
                size += sum(stored_sizes(one).values())
                if size > TOGETHER_BYTES:
                    break
                together.append(one)
            if together:
                self._read |= await self.reader.bodies(together, self.length)
        body = self._read.get(message["id"], Body())
        message["images"] = body.images
        if body.images is None:
            message["images"] = await self.reader.images(message)
        return await self.reader.beginnings(message, self.length, body.parts)


async def page_of_messages(
    reader: Reader, page: Page, max_bytes: int, progress: Progress
) -> CallToolResult:
    """Answer with the messages of a page, in full, as many as fit."""
    page.check()
    first = max(1, min(max_bytes // _LEAST_BYTES_A_MESSAGE, MAX_AT_ONCE, _most(reader)))
    first = min(first, page.limit or first)
    variables = page.variables(reader, first)
    session = await reader.session(queries.MESSAGES, page.session_id, **variables)
    messages: list[Value] = session["messages"]["nodes"]
    total = session["messageCount"]
    empty = {"session_id": page.session_id, "message_count": total, "messages": []}
    header = [*labelled(_header(session, 0, 0)), _BEYOND.format(page.around)]
    calls = (page.call(after=total), page.call(before=total))
    left = room(max_bytes, header, empty, *calls)
    maker = ItemMaker(page.session_id, Fence(), page.max_bytes)
    filling = Filling(reader, maker, left, left // 2)
    ordered = _in_order(messages, page)
    for at, message in enumerate(ordered):
        if not await filling.add(ordered, at):
            break
        await progress(left - filling.left, left, f"message {message['sequence']}")
    shown = sorted(filling.items)
    items = [filling.items[sequence] for sequence in shown]
    lines = labelled(_header(session, *(shown[0], shown[-1]) if shown else (0, 0)))
    info = session["messages"]["pageInfo"]
    before, after = _beyond(messages, shown, info)
    start = shown[0] if before else None
    if not shown and page.after is not None and total:
        # Nothing follows; what was said last may be of use.
        start = total + 1
    if page.around is not None and page.around > total:
        lines.append(_BEYOND.format(page.around))
    return answer(
        [*lines, *(item.text for item in items)],
        {**empty, "messages": [item.structured for item in items]},
        previous=page.call(before=start) if start is not None else None,
        following=page.call(after=shown[-1]) if after else None,
    )


def _most(reader: Reader) -> int:
    return min(reader.settings.max_page_size, reader.settings.max_rows)


def _in_order(messages: Sequence[Value], page: Page) -> list[Value]:
    """Return messages in the order in which an answer is filled with them."""
    if page.is_backwards:
        return list(reversed(messages))
    if page.around is None:
        return list(messages)
    wanted = page.around
    return sorted(messages, key=lambda message: abs(message["sequence"] - wanted))


def _beyond(messages: Sequence[Value], shown: Sequence[int], info: Value) -> tuple[bool, bool]:
    """Say whether there are messages before and after those shown."""
    if not shown:
        return False, False
    before = info["hasPreviousPage"] or messages[0]["sequence"] < shown[0]
    after = info["hasNextPage"] or shown[-1] < messages[-1]["sequence"]
    return before, after


def _header(session: Value, first: int, last: int) -> str:
    total = session["messageCount"]
    if not last:
        return f"No messages here, of {total:,} in {session_words(session)}."
    span = f"Message {first}" if first == last else f"Messages {first} to {last}"
    return f"{span} of {total:,} in {session_words(session)}."
