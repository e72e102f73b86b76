"""The tools that read messages: a page of a session, and one message."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server import queries
from toolfold.mcp_server.answers import answer, labelled, room, session_words
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.files import FileLister, Files, locations_of
from toolfold.mcp_server.items import PARTS, Item, ItemMaker, stored_sizes
from toolfold.mcp_server.reading import MAX_AT_ONCE, Reader, Slice, Value
from toolfold.mcp_server.safe_text import Fence
from toolfold.schema.enums import MessageRole, ToolKind, ToolStatus
from toolfold.schema.message import MessageFilter, message_cursor, message_scope

Progress = Callable[[float, float, str], Awaitable[None]]
"""Tells how far a call is: so many bytes, of so many, and in words."""

TOGETHER_BYTES = 256 * 1024
"""Stored bytes up to which the parts of several messages are read in one operation."""

_LEAST_BYTES_A_MESSAGE = 400
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
    _read: dict[str, dict[str, Slice]] = field(default_factory=dict)

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
        found = self._read.get(message["id"], {})
        parts: dict[str, Slice] = {}
        for name in PARTS:
            if name in stored_sizes(message):
                part = found.get(name) or await self.reader.part(message, name, 0, self.length)
                if part is not None:
                    parts[name] = part
        return parts


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
    header = labelled(_header(session, 0, 0))
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
    return answer(
        [*lines, *(item.text for item in items)],
        {**empty, "messages": [item.structured for item in items]},
        previous=page.call(before=shown[0]) if before else None,
        following=page.call(after=shown[-1]) if after else None,
    )


@dataclass(frozen=True, slots=True)
class OneWanted:
    """Which message is asked for; of it the text from `offset` on, or the files after one."""

    session_id: str
    sequence: int
    offset: int | None = None
    after_file: int | None = None
    max_bytes: int | None = None

    def check(self) -> None:
        """Check that the arguments go together.

        Raises:
            ToolError: if more than one place is given.
        """
        if self.offset is not None and self.after_file is not None:
            raise ToolError("Give one of offset and after_file, not 2 of them.")


async def one_message(reader: Reader, wanted: OneWanted, max_bytes: int) -> CallToolResult:
    """Answer with one message; from an offset on, with the rest of its text or files alone."""
    wanted.check()
    session_id, sequence = wanted.session_id, wanted.sequence
    session, message = await reader.message(session_id, sequence)
    total = session["messageCount"]
    header = labelled(f"Message {sequence} of {total:,} in {session_words(session)}.")
    maker = ItemMaker(session_id, Fence(), wanted.max_bytes, has_files=False)
    structured = {"session_id": session_id, "message_count": total, "message": {}}
    rest = maker.reading(sequence, "raw_output", 2**53)
    left = room(max_bytes, header, structured, rest, maker.files(message, 2**31))
    if wanted.after_file is not None:
        return await _files(reader, maker, wanted, (message, left, header, structured))
    offset = wanted.offset or 0
    names = ("text",) if offset else tuple(stored_sizes(message))
    parts: dict[str, Slice] = {}
    for name in names:
        part = await reader.part(message, name, offset, left // 2)
        if part is not None:
            parts[name] = part
    lister = FileLister(reader, message, maker.files(message, 0))
    named = min(len(locations_of(message)), maker.limits.locations)
    files = await lister.listed(left // 2, after=named) if not offset else Files(0, 0)
    left -= files.cost
    item = maker.item(message, parts)
    if item.cost > left:
        item = maker.cut(message, parts, left)
    more = maker.files(message, files.last) if files.has_more else None
    lines = [*header, item.text, *files.lines]
    shown = {**item.structured, **files.lists}
    if more is not None:
        lines.append(f"and {files.count - files.last} files more: {more}")
        shown["more_files"] = more.structured()
    return answer(
        lines,
        {**structured, "message": shown},
        following=item.rest or more,
        images=files.content,
    )


async def _files(
    reader: Reader,
    maker: ItemMaker,
    wanted: OneWanted,
    begun: tuple[Value, int, list[str], Value],
) -> CallToolResult:
    """Answer with the files of a message after one, with its light fields."""
    message, left, header, structured = begun
    after = wanted.after_file or 0
    item = maker.cut(message, {}, left // 2)
    lister = FileLister(reader, message, maker.files(message, 0))
    files = await lister.listed(left - item.cost, after=after, at_least=1)
    if after > files.count:
        raise ToolError(f"after_file {after} is beyond the end: there are {files.count} files.")
    span = f"Files {after + 1} to {files.last}" if files.lines else "No files here"
    return answer(
        [*header, item.text, f"{span} of {files.count}:", *files.lines],
        {**structured, "message": {**item.structured, **files.lists}},
        following=maker.files(message, files.last) if files.has_more else None,
        images=files.content,
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
