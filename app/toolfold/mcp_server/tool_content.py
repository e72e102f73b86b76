"""The tool that reads one part of a tool call: a range, lines, or what is found in it."""

from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server import queries
from toolfold.mcp_server.answers import answer, labelled, room, session_words
from toolfold.mcp_server.budget import cost, fitting
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.matches import fitting_matches
from toolfold.mcp_server.reading import Reader, Slice, Value
from toolfold.mcp_server.safe_text import Fence, one_line, shown
from toolfold.schema.content_text import find_cursor

_MAX_MATCHES = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of which call, and what of it; at most one of the places is given."""

    session_id: str
    sequence: int
    part: str = "output"
    offset: int | None = None
    length: int | None = None
    from_line: int | None = None
    line_count: int | None = None
    head: int | None = None
    tail: int | None = None
    find: str | None = None
    after_line: int | None = None
    max_bytes: int | None = None

    def call(self, **changes: int | None) -> Call:
        """Return the call that reads on from another place."""
        given = {"find": self.find, **changes}
        return Call.of(
            "get_tool_content",
            session_id=self.session_id,
            sequence=self.sequence,
            part=None if self.part == "output" else self.part,
            **given,
            max_bytes=self.max_bytes,
        )

    def check(self) -> None:
        """Check that the arguments go together.

        Raises:
            ToolError: saying which do not.
        """
        places = [
            name
            for name in ("offset", "from_line", "head", "tail", "find")
            if getattr(self, name) is not None
        ]
        if len(places) > 1:
            raise ToolError(f"Give one of {' and '.join(places)}, not {len(places)} of them.")
        of_lines = [name for name in places if name != "offset"]
        if of_lines and self.part != "output":
            raise ToolError(f'{of_lines[0]} goes with part "output" alone; use offset and length.')
        if self.from_line == 0:
            raise ToolError("from_line counts from 1, or from the end if negative.")
        if self.line_count is not None and self.from_line is None:
            raise ToolError("line_count goes with from_line.")
        if self.length is not None and of_lines:
            raise ToolError(f"length does not go with {of_lines[0]}.")
        if self.after_line is not None and self.find is None:
            raise ToolError("after_line goes with find.")


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin to read, in bytes; and in lines, if that was asked for."""

    offset: int
    line: int | None = None
    total_lines: int | None = None


async def tool_content(reader: Reader, wanted: Wanted, max_bytes: int) -> CallToolResult:
    """Answer with the part, as much of it as fits.

    Raises:
        ToolError: if there is no such part, or the arguments do not go together.
    """
    wanted.check()
    session, message = await reader.message(wanted.session_id, wanted.sequence)
    if message["toolMetadata"] is None:
        role = message["role"].lower()
        raise ToolError(
            f"Message {wanted.sequence} is no tool call, but one of role {role}: use get_message."
        )
    where = f"message {wanted.sequence} of {session_words(session)}"
    if wanted.find is not None:
        return await _found(reader, wanted, message, where, max_bytes)
    start = await _start(reader, wanted, message)
    return await _range(reader, wanted, (message["id"], where), start, max_bytes)


async def _start(reader: Reader, wanted: Wanted, message: Value) -> Start:
    line = wanted.from_line
    if wanted.head is not None:
        line = 1
    elif wanted.tail is not None:
        line = -wanted.tail
    if line is None:
        return Start(wanted.offset or 0)
    found = await reader.of_message(queries.LINES, message["id"], **{"from": line})
    lines = found["toolMetadata"]["contentLines"]
    if lines is None:
        return Start(0)
    if line > max(1, lines["totalLines"]):
        raise ToolError(
            f"from_line {line} is beyond the end: there are {lines['totalLines']} lines."
        )
    return Start(lines["offset"], lines["from"], lines["totalLines"])


async def _range(
    reader: Reader, wanted: Wanted, place: tuple[str, str], start: Start, max_bytes: int
) -> CallToolResult:
    message_id, where = place
    fence = Fence()
    structured = {
        "session_id": wanted.session_id,
        "sequence": wanted.sequence,
        "part": wanted.part,
        **dict.fromkeys(("offset", "bytes", "total_bytes", "first_line", "total_lines"), 2**53),
    }
    header = labelled(_header(wanted, where, Slice(2**53, 2**53, 2**53, ""), start))
    left = room(max_bytes, [*header, fence.around("")], structured, wanted.call(offset=2**53))
    useful = min(left // 2, wanted.length or left)
    part = await reader.part(message_id, wanted.part, start.offset, useful)
    if part is None:
        raise ToolError(f"No {wanted.part} was recorded in {where}.")
    limited = _first_lines(part, wanted.line_count or wanted.head)
    text = fitting(limited.text, left, lambda text: cost(shown(text), text)) if limited.text else ""
    found = limited.beginning(text)
    has_rest = found.end < found.total
    rest = None if wanted.length is None else wanted.length - found.length
    following = wanted.call(offset=found.end, length=rest if rest and rest > 0 else None)
    given: Value = {
        **{name: structured[name] for name in ("session_id", "sequence", "part")},
        "offset": found.offset,
        "bytes": found.length,
        "total_bytes": found.total,
        "text": found.text,
    }
    if start.line is not None:
        given |= {"first_line": start.line, "total_lines": start.total_lines}
    return answer(
        [*labelled(_header(wanted, where, found, start)), fence.around(found.text)],
        given,
        following=following if has_rest else None,
    )


def _first_lines(part: Slice, count: int | None) -> Slice:
    """Return the slice up to the end of so many lines."""
    if count is None:
        return part
    at = 0
    for _ in range(count):
        found = part.text.find("\n", at)
        if found < 0:
            return part
        at = found + 1
    return part.beginning(part.text[:at])


def _header(wanted: Wanted, where: str, found: Slice, start: Start) -> str:
    what = {
        "output": "Output, as a person would read it",
        "output_json": "Output, as its stored JSON",
        "input": "Input, as its stored JSON",
        "raw_output": "Raw output, as its stored JSON",
    }[wanted.part]
    lines = "" if start.line is None else f", from line {start.line:,} of {start.total_lines:,}"
    span = f"all {found.total:,} bytes"
    if found.length < found.total:
        span = f"bytes {found.offset:,} to {found.end:,} of {found.total:,}"
    return f"{what}, of {where}: {span}{lines}."


async def _found(
    reader: Reader, wanted: Wanted, message: Value, where: str, max_bytes: int
) -> CallToolResult:
    text = wanted.find or ""
    after = None
    stored = message["toolMetadata"]["contentHash"]
    if stored is None:
        raise ToolError(f"No output was recorded in {where}.")
    if wanted.after_line is not None:
        after = find_cursor(stored, text, wanted.after_line)
    first = min(_MAX_MATCHES, reader.settings.max_page_size, reader.settings.max_rows)
    variables = {"text": text, "first": first, "after": after}
    shown_message = await reader.of_message(queries.FIND, message["id"], **variables)
    found = shown_message["toolMetadata"]["contentFind"]
    count = found["totalCount"]
    structured: Value = {
        "session_id": wanted.session_id,
        "sequence": wanted.sequence,
        "part": wanted.part,
        "match_count": count,
        "matches": [],
    }
    fence = Fence()
    header = labelled(
        f"{count:,} lines contain {one_line(text, 60)} in the output of {where}."
        " Each is shown with its number, for from_line. Of a cut one it says at which offset of"
        " output_json the text is."
    )
    on = wanted.call(after_line=2**31)
    left = room(max_bytes, [*header, fence.around("")], structured, on)
    lines, matches = fitting_matches(found["matches"], text, left)
    if found["matches"] and not matches:
        raise ToolError("find is too long for so short an answer: give more max_bytes.")
    has_more = len(matches) < len(found["matches"]) or found["endCursor"] is not None
    return answer(
        [*header, fence.around("\n".join(lines))] if lines else header,
        {**structured, "matches": matches},
        following=wanted.call(after_line=matches[-1]["line"]) if has_more and matches else None,
    )
