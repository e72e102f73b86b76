"""The tool that reads one part of a tool call: a range, lines, or what is found in it."""

from dataclasses import dataclass, replace

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server import queries
from toolfold.mcp_server.answers import answer, labelled, room, session_words
from toolfold.mcp_server.budget import cost, fitting
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.matches import fitting_matches
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import Fence, one_line, shown
from toolfold.mcp_server.slices import Slice, Value, content_mark
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
    content: str | None = None
    """The mark of the output that an answer before was read from."""
    max_bytes: int | None = None

    @property
    def lines(self) -> int | None:
        """How many lines are asked for, if not all that fit."""
        return self.line_count or self.head

    def rest(self, found: Slice) -> Call | None:
        """Return the call that reads what is asked for and not in a slice; None if nothing is."""
        lines = None if self.lines is None else self.lines - found.text.count("\n")
        length = None if self.length is None else self.length - found.length
        is_answered = (lines is not None and lines <= 0) or (length is not None and length <= 0)
        if is_answered or not found.has_rest:
            return None
        return self.call(offset=found.end, length=length, line_count=lines)

    def call(self, **changes: int | None) -> Call:
        """Return the call that reads on from another place."""
        given = {"find": self.find, **changes}
        return Call.of(
            "get_tool_content",
            session_id=self.session_id,
            sequence=self.sequence,
            part=None if self.part == "output" else self.part,
            **given,
            content=self.content,
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
        if self.line_count is not None and not {*places} & {"from_line", "offset"}:
            raise ToolError("line_count goes with from_line or offset.")
        if self.length is not None and of_lines:
            raise ToolError(f"length does not go with {of_lines[0]}.")
        if self.find is not None and (not self.find or "\n" in self.find):
            raise ToolError("find looks within lines: give a text without a line break.")
        if self.after_line is not None and self.find is None:
            raise ToolError("after_line goes with find.")


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin to read, in bytes; and in lines, if that was asked for."""

    offset: int
    line: int | None = None
    total_lines: int | None = None

    def words(self) -> str:
        """Say in words from which line on, if lines were asked for."""
        if self.line is None:
            return ""
        of = "" if self.total_lines is None else f" of {self.total_lines:,}"
        return f", from line {self.line:,}{of}"

    def structured(self) -> Value:
        """Return what structured output says of it."""
        found = {"first_line": self.line, "total_lines": self.total_lines}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Place:
    """The tool call that is read, and in words; `again` reads an output that was replaced anew."""

    message: Value
    where: str
    again: Call | None

    def notice(self) -> list[str]:
        """Say that the output is not the one of an answer before, if it is not."""
        if self.again is None:
            return []
        what = "This is not the output of the answer before: it was replaced, or has grown, since."
        return [f"{what} From its beginning: {self.again}"]

    def structured(self) -> Value:
        """Return what structured output says of it."""
        return {} if self.again is None else {"replaced": self.again.structured()}


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
    mark = content_mark(message) if wanted.part in ("output", "output_json") else None
    marked = replace(wanted, content=mark)
    is_replaced = wanted.content is not None and mark is not None and wanted.content != mark
    place = _Place(message, where, marked.call() if is_replaced else None)
    try:
        if wanted.find is not None:
            return await _found(reader, marked, place, max_bytes)
        start = await _start(reader, marked, message)
        return await _range(reader, marked, place, start, max_bytes)
    except ToolError as error:
        # Such as that an offset is beyond the end.
        raise ToolError(" ".join([str(error), *place.notice()])) from error


async def _start(reader: Reader, wanted: Wanted, message: Value) -> Start:
    line = wanted.from_line
    is_counted = reader.is_counted(message)
    if wanted.head is not None:
        line = 1
        if not is_counted:
            return Start(0, line)
    elif wanted.tail is not None:
        line = -wanted.tail
    if line is None:
        return Start(wanted.offset or 0)
    variables: Value = {"from": line, "counted": is_counted or line < 0}
    found = await reader.of_message(queries.LINES, message["id"], **variables)
    lines = found["toolMetadata"]["contentLines"]
    if lines is None:
        return Start(0)
    if line > 1 and not lines["lines"]:
        count = lines["from"] - 1
        raise ToolError(f"from_line {line} is beyond the end: there are {count} lines.")
    return Start(lines["offset"], lines["from"], lines.get("totalLines"))


async def _range(
    reader: Reader, wanted: Wanted, place: _Place, start: Start, max_bytes: int
) -> CallToolResult:
    message, where, notice = place.message, place.where, place.notice()
    fence = Fence()
    named: Value = {
        "session_id": wanted.session_id,
        "sequence": wanted.sequence,
        "part": wanted.part,
        **place.structured(),
    }
    longest = Slice(2**53, 2**53, 2**53, "", has_rest=True, is_counted=False)
    header = [*labelled(_header(wanted, where, longest, start)), *notice]
    on = wanted.call(offset=2**53, length=wanted.length, line_count=wanted.lines)
    structured = {**named, **longest.structured(), **start.structured()}
    left = room(max_bytes, [*header, fence.around("")], structured, on)
    useful = min(left // 2, wanted.length or left)
    part = await reader.part(message, wanted.part, start.offset, useful)
    if part is None:
        raise ToolError(f"No {wanted.part} was recorded in {where}.")
    limited = _first_lines(part, wanted.lines)
    text = fitting(limited.text, left, lambda text: cost(shown(text), text)) if limited.text else ""
    found = limited.beginning(text)
    return answer(
        [*labelled(_header(wanted, where, found, start)), *notice, fence.around(found.text)],
        {**named, **found.structured(), **start.structured()},
        following=wanted.rest(found),
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
    return f"{what}, of {where}: {found.span()}{start.words()}."


async def _found(reader: Reader, wanted: Wanted, place: _Place, max_bytes: int) -> CallToolResult:
    text, where = wanted.find or "", place.where
    found = await _matches(reader, wanted, place.message, where)
    structured: Value = {
        "session_id": wanted.session_id,
        "sequence": wanted.sequence,
        "part": wanted.part,
        "matches": [],
        **place.structured(),
    }
    count = found.get("totalCount")
    said = f"Lines after {wanted.after_line or 0:,} that contain"
    if count is not None:
        structured["match_count"] = count
        said = f"{count:,} lines contain"
    fence = Fence()
    how = ""
    if found["matches"]:
        how = (
            " Each is shown with its number, for from_line. Of a cut one it says at which offset"
            " of output_json the text is."
        )
    header = labelled(f"{said} {one_line(text, 60)} in the output of {where}.{how}")
    header += place.notice()
    on = wanted.call(after_line=2**31)
    left = room(max_bytes, [*header, fence.around("")], structured, on)
    lines, matches = fitting_matches(found["matches"], text, left)
    has_more = len(matches) < len(found["matches"]) or found["endCursor"] is not None
    return answer(
        [*header, fence.around("\n".join(lines))] if lines else header,
        {**structured, "matches": matches},
        following=wanted.call(after_line=matches[-1]["line"]) if has_more and matches else None,
    )


async def _matches(reader: Reader, wanted: Wanted, message: Value, where: str) -> Value:
    """Return the matches after a line; all are counted where that reads no more than they take."""
    stored = message["toolMetadata"]["contentHash"]
    if stored is None:
        raise ToolError(f"No output was recorded in {where}.")
    text, after = wanted.find or "", None
    if wanted.after_line is not None:
        after = find_cursor(stored, text, wanted.after_line)
    variables = {
        "text": text,
        "first": min(_MAX_MATCHES, reader.settings.max_page_size, reader.settings.max_rows),
        "after": after,
        "counted": after is None or reader.is_counted(message),
    }
    shown_message = await reader.of_message(queries.FIND, message["id"], **variables)
    return dict(shown_message["toolMetadata"]["contentFind"])
