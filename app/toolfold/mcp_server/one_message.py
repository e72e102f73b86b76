"""The tool that reads one message, with its files."""

from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server.answers import answer, labelled, room, session_words
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.files import FileLister, Files, locations_of
from toolfold.mcp_server.items import ItemMaker
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import Fence
from toolfold.mcp_server.slices import Slice, Value


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


@dataclass(frozen=True, slots=True)
class _Begun:
    """An answer that has its header, with room for `left` bytes."""

    reader: Reader
    message: Value
    maker: ItemMaker
    header: list[str]
    structured: Value
    left: int

    @property
    def lister(self) -> FileLister:
        """What lists the message's files."""
        return FileLister(self.reader, self.message, self.maker.files(self.message, 0))


async def one_message(reader: Reader, wanted: OneWanted, max_bytes: int) -> CallToolResult:
    """Answer with one message; from an offset on, with the rest of its text or files alone."""
    wanted.check()
    session_id, sequence = wanted.session_id, wanted.sequence
    session, message = await reader.message(session_id, sequence)
    total = session["messageCount"]
    header = labelled(f"Message {sequence} of {total:,} in {session_words(session)}.")
    maker = ItemMaker(session_id, Fence(), wanted.max_bytes, has_files=False)
    structured = {"session_id": session_id, "message_count": total, "message": {}}
    rest = maker.reading(message, "output", 2**53)
    left = room(max_bytes, header, structured, rest, maker.files(message, 2**31))
    begun = _Begun(reader, message, maker, header, structured, left)
    if wanted.after_file is not None:
        return await _files(begun, wanted.after_file)
    if wanted.offset and message["toolMetadata"] and not message["contentSize"]:
        call = Call.of(
            "get_tool_content", session_id=session_id, sequence=sequence, offset=wanted.offset
        )
        raise ToolError(f"Message {sequence} is a tool call without a text. Its output: {call}")
    if wanted.offset:
        text = await reader.part(message, "text", wanted.offset, left // 2)
        return await _shown(begun, {} if text is None else {"text": text}, has_files=False)
    return await _shown(begun, await reader.beginnings(message, left // 2, {}), has_files=True)


async def _shown(begun: _Begun, parts: dict[str, Slice], *, has_files: bool) -> CallToolResult:
    """Answer with these parts, and with the message's files in the room that they leave."""
    message, left = begun.message, begun.left
    maker = begun.maker.suited(message, parts, left // 2)
    item = maker.item(message, parts)
    files = Files(0, 0)
    if has_files:
        named = min(len(locations_of(message)), maker.limits.locations)
        files = await begun.lister.listed(max(left // 2, left - item.cost), after=named)
        left -= files.cost
    if item.cost > left:
        item = maker.cut(message, parts, left)
    lines = [*begun.header, item.text, *files.lines]
    shown = {**item.structured, **files.lists}
    more = maker.files(message, files.last) if files.has_more else None
    if more is not None:
        lines.append(f"and {files.count - files.last} files more: {more}")
        shown["more_files"] = more.structured()
    return answer(
        lines,
        {**begun.structured, "message": shown},
        following=item.rest or more,
        images=files.content,
    )


async def _files(begun: _Begun, after: int) -> CallToolResult:
    """Answer with the files of a message after one, with its light fields."""
    message = begun.message
    item = begun.maker.cut(message, {}, begun.left // 2)
    files = await begun.lister.listed(begun.left - item.cost, after=after, at_least=1)
    if after > files.count:
        raise ToolError(f"after_file {after} is beyond the end: there are {files.count} files.")
    span = f"Files {after + 1} to {files.last}" if files.lines else "No files here"
    return answer(
        [*begun.header, item.text, f"{span} of {files.count}:", *files.lines],
        {**begun.structured, "message": {**item.structured, **files.lists}},
        following=begun.maker.files(message, files.last) if files.has_more else None,
        images=files.content,
    )
