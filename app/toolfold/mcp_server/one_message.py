"""The tool that reads one message, with its files."""

from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server.answers import answer, labelled, room, session_words
from toolfold.mcp_server.budget import cost, fitting
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.files import FileLister, Files, locations_of
from toolfold.mcp_server.items import ItemMaker
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import Fence, shown
from toolfold.mcp_server.slices import Slice, Value


@dataclass(frozen=True, slots=True)
class OneWanted:
    """Which message is asked for; of it the text from `offset` on, or the files after one.

    With both it is the path of the location after that one, from `offset` on.
    """

    session_id: str
    sequence: int
    offset: int | None = None
    after_file: int | None = None
    max_bytes: int | None = None


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
    session_id, sequence = wanted.session_id, wanted.sequence
    session, message = await reader.message(session_id, sequence)
    total = session["messageCount"]
    header = labelled(f"Message {sequence} of {total:,} in {session_words(session)}.")
    maker = ItemMaker(session_id, Fence(), wanted.max_bytes, has_files=False)
    structured = {"session_id": session_id, "message_count": total, "message": {}}
    rest = maker.reading(message, "output", 2**53)
    left = room(max_bytes, header, structured, rest, maker.files(message, 2**31))
    begun = _Begun(reader, message, maker, header, structured, left)
    if wanted.after_file is not None and wanted.offset is not None:
        return _path(begun, wanted.after_file, wanted.offset)
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
    listed = {**item.structured, **files.lists}
    more = maker.files(message, files.last) if files.has_more else None
    if more is not None:
        lines.append(f"and {files.count - files.last} files more: {more}")
        listed["more_files"] = more.structured()
    return answer(
        lines,
        {**begun.structured, "message": listed},
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


def _path(begun: _Begun, after: int, offset: int) -> CallToolResult:
    """Answer with the path of the location after one, from an offset on as much as fits."""
    message, maker = begun.message, begun.maker
    locations = locations_of(message)
    if after >= len(locations):
        raise ToolError(
            "With after_file, offset reads the path of the location after it:"
            f" there are {len(locations)} locations."
        )
    whole = _path_from(locations[after].path.encode(), offset)
    item = maker.cut(message, {}, begun.left // 2)
    name = f"Path of location {after + 1}, bytes {offset:,} to {whole.end:,} of {whole.total:,}:"
    on = maker.files(message, after, offset=whole.total)
    around = (name, maker.fence.around(""), whole.beginning("").structured(), on.structured())
    left = begun.left - item.cost - cost(*around)
    text = fitting(whole.text, left, lambda text: cost(shown(text), text)) if whole.text else ""
    part = whole.beginning(text)
    following = maker.files(message, after, offset=part.end) if part.has_rest else None
    structured = part.structured()
    if following is not None:
        structured["next"] = following.structured()
    lines = [f"Path of location {after + 1}, {part.span()}:", maker.fence.around(part.text)]
    return answer(
        [*begun.header, item.text, *lines],
        {**begun.structured, "message": {**item.structured, "path": structured}},
        following=following,
    )


def _path_from(path: bytes, offset: int) -> Slice:
    """Return what follows an offset, from the beginning of its character on.

    Raises:
        ToolError: if the offset is beyond the end.
    """
    total = len(path)
    if offset > total:
        raise ToolError(f"offset {offset} is beyond the end: there are {total} bytes.")
    text = path[:offset].decode(errors="ignore")
    start = len(text.encode())
    return Slice(start, total - start, total, path[start:].decode(), has_rest=False)
