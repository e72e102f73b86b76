"""The tool that outlines a session."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from mcp_types import CallToolResult

from toolfold.mcp_server import queries
from toolfold.mcp_server.answers import answer, fitting_lines, labelled, room, session_words
from toolfold.mcp_server.budget import cost
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.facts import facts, sub_agents, ways_to_read
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import ending, one_line, path_line, shortened
from toolfold.mcp_server.sessions import short, structured_session
from toolfold.mcp_server.slices import Value

_MAX_TURNS = 200
_MAX_CALLS = 1_000
"""Tool calls of each sort whose files an outline names."""

_MAX_FILES = 40
_MAX_FAILURES = 20
_LEAST_OF_A_PATH, _MOST_OF_A_PATH = 40, 300
"""Bytes of a path: in the shortest answers, and in others."""

_LENGTHS = (280, 80, 20)
"""Bytes of what was said; the fewer where more do not fit."""

_TURN_BYTES = 200

_SHARE = 4
"""Files take this part of an outline at most; failures, and what was said last, as much each."""


async def outline(
    reader: Reader, session_id: str, after: int | None, budget: tuple[int, int | None]
) -> CallToolResult:
    """Answer with a session's turns; with the first of them, its files and failures too."""
    max_bytes, given = budget
    session = await reader.session(queries.SESSION, session_id)
    structured: Value = {"session": structured_session(session), "turns": []}
    header = labelled(f"Outline of {session_words(session)}.")
    following = Call.of("get_session", session_id=session_id, after=2**31, max_bytes=given)
    lines = [*header]
    if after is None:
        known, more = facts(session)
        lines += [*known, *ways_to_read(session, given)]
        structured |= more
        left = room(max_bytes, lines, structured, following)
        agent_lines, agents = sub_agents(session, given, left // _SHARE)
        lines += agent_lines
        structured |= agents
        left = room(max_bytes, lines, structured, following)
        shown_lines, found = await _highlights(reader, session_id, given, left // _SHARE)
        lines += shown_lines
        structured |= found
    left = room(max_bytes, lines, structured, following)
    turns, turn_lines, has_more = await _turns(reader, session_id, after, left)
    structured["turns"] = turns
    lines += ["Turns, each a message from the user:" if turns else "No turns.", *turn_lines]
    last = turns[-1]["sequence"] if turns else 0
    on = Call.of("get_session", session_id=session_id, after=last, max_bytes=given)
    return answer(lines, structured, following=on if has_more and turns else None)


async def _turns(
    reader: Reader, session_id: str, after: int | None, left: int
) -> tuple[list[Value], list[str], bool]:
    """Return turns as far as they fit, in both forms, and whether more follow."""
    first = max(1, min(_MAX_TURNS, reader.settings.max_page_size, reader.settings.max_rows))
    cursor = reader.turn_cursor(session_id, after) if after else None
    session = await reader.session(queries.TURNS, session_id, first=first, after=cursor)
    nodes = session["messages"]["nodes"]
    turns: list[Value] = []
    lines: list[str] = []
    for node in nodes:
        # Of the first turn so much is shown that it fits.
        for limit in _LENGTHS if not turns else _LENGTHS[:1]:
            line, turn = _turn(node, limit)
            taken = cost(line, turn) + 4
            if taken <= left:
                break
        if taken > left and turns:
            break
        left -= taken
        turns.append(turn)
        lines.append(line)
    return turns, lines, len(turns) < len(nodes) or session["messages"]["pageInfo"]["hasNextPage"]


def _turn(node: Value, limit: int) -> tuple[str, Value]:
    """Return a turn by so many bytes of its beginning, as a line and structured."""
    turn = {
        "sequence": node["sequence"],
        "created_at": node["createdAt"],
        "bytes": node["contentSize"],
        "text": shortened(node["contentPreview"], limit),
    }
    if node["origin"]:
        turn["origin"] = short(node["origin"])
    by = f", put there by {one_line(node['origin'], 100)}" if node["origin"] else ""
    text = one_line(node["contentPreview"], min(limit, _TURN_BYTES))
    return f"- {node['sequence']} ({node['contentSize']:,} bytes{by}): {text}", turn


async def _highlights(
    reader: Reader, session_id: str, given: int | None, share: int
) -> tuple[list[str], Value]:
    first = max(1, min(_MAX_CALLS, reader.settings.max_page_size, reader.settings.max_rows // 4))
    failed_count = min(first, _MAX_FAILURES)
    session = await reader.session(queries.CALLS, session_id, first=first, failed=failed_count)
    files = _touched(session["changing"]["nodes"], session["reading"]["nodes"])
    is_part = session["changing"]["pageInfo"]["hasNextPage"]
    is_part = is_part or session["reading"]["pageInfo"]["hasNextPage"]
    lines, shown_files = _files(files, share)
    last_lines, last = _last_said(session["said"]["nodes"], share)
    of = f"{len(shown_files)} of " if len(shown_files) < len(files) else ""
    among = f" (of its first {first:,} edits and reads)" if is_part else ""
    found: Value = {"files": shown_files}
    if files:
        lines.insert(0, f"Files touched{among}, {of}{len(files)}:")
    failed = session["failed"]
    found |= {"failures": [], "failure_count": failed["totalCount"]}
    if failed["totalCount"]:
        every = Call.of(
            "get_session_messages", session_id=session_id, statuses=["failed"], max_bytes=given
        )
        failed_lines, found["failures"] = _failures(failed["nodes"], share - 2 * cost(str(every)))
        shown_count = len(found["failures"])
        of = f"the last {shown_count} of " if shown_count < failed["totalCount"] else ""
        lines += [f"Failed tool calls, {of}{failed['totalCount']}, the last first:", *failed_lines]
        if of:
            lines.append(f"All of them: {every}")
            found["all_failures"] = every.structured()
    return [*lines, *last_lines], {**found, **last}


def _last_said(nodes: Sequence[Value], left: int) -> tuple[list[str], Value]:
    """Return the last thing that the agent said, by as much of its beginning as fits."""
    for node in nodes:
        for limit in _LENGTHS:
            words = {
                "sequence": node["sequence"],
                "bytes": node["contentSize"],
                "text": shortened(node["contentPreview"], limit),
            }
            line = f"The agent's last words, in message {words['sequence']}"
            line += f" ({words['bytes']:,} bytes): {one_line(words['text'], limit)}"
            if cost(line, words) <= left:
                return [line], {"last_words": words}
    return [], {}


def _files(files: Iterable[Value], left: int) -> tuple[list[str], list[Value]]:
    """Return files as far as they fit, in both forms; of a long path the end."""
    limit = max(_LEAST_OF_A_PATH, min(_MOST_OF_A_PATH, left // 16))

    def shown() -> Iterator[tuple[str, Value]]:
        for touched in islice(files, _MAX_FILES):
            file = {**touched, "path": ending(touched["path"], limit)}
            counts = f"{file['changes']} changes, {file['reads']} reads"
            line = f"- {path_line(touched['path'], limit)}: {counts},"
            yield f"{line} last in message {file['last_sequence']}", file

    return fitting_lines(shown(), left)


def _failures(nodes: Sequence[Value], left: int) -> tuple[list[str], list[Value]]:
    """Return failed calls as far as they fit, the last first, in both forms."""

    def shown() -> Iterator[tuple[str, Value]]:
        for node in reversed(nodes):
            tool = node["toolMetadata"]
            failure = {
                "sequence": node["sequence"],
                "name": short(tool["name"]),
                "title": short(tool["title"]),
                "output": short(tool["contentPreview"], 120),
            }
            name = f" {one_line(tool['name'], 60)}" if tool["name"] else ""
            title = f" {one_line(tool['title'], 100)}" if tool["title"] else ""
            line = f"- {node['sequence']}{name}{title}:"
            line += f" {one_line(tool['contentPreview'], 120)}"
            yield line, {name: value for name, value in failure.items() if value is not None}

    return fitting_lines(shown(), left)


def _touched(changing: Iterable[Value], reading: Iterable[Value]) -> list[Value]:
    """Return the files of these calls, those that were changed most first."""
    changes: Counter[str] = Counter()
    reads: Counter[str] = Counter()
    last: dict[str, int] = {}
    for nodes, counts in ((changing, changes), (reading, reads)):
        for node in nodes:
            paths = {location["path"] for location in node["toolMetadata"]["locations"]}
            counts.update(paths)
            for path in paths:
                last[path] = max(last.get(path, 0), node["sequence"])
    order = sorted(last, key=lambda path: (-changes[path], -reads[path], path))
    return [
        {
            "path": path,
            "changes": changes[path],
            "reads": reads[path],
            "last_sequence": last[path],
        }
        for path in order
    ]
