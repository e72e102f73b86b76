"""The tools that list sessions and name them."""

from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server import queries
from toolfold.mcp_server.answers import answer, labelled, room
from toolfold.mcp_server.budget import cost
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import one_line, shortened
from toolfold.mcp_server.slices import Value
from toolfold.schema.scalars import parse_date_time

_MAX_SESSIONS = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """Which sessions are asked for."""

    title_contains: str | None = None
    agent: str | None = None
    status: str | None = None
    updated_after: str | None = None
    include_sub_agents: bool | None = None
    limit: int | None = None
    after: str | None = None
    max_bytes: int | None = None

    def call(self, after: str) -> Call:
        """Return the call of the next page."""
        return Call.of(
            "list_sessions",
            title_contains=self.title_contains,
            agent=self.agent,
            status=self.status,
            updated_after=self.updated_after,
            include_sub_agents=self.include_sub_agents or None,
            limit=self.limit,
            after=after,
            max_bytes=self.max_bytes,
        )

    def filter(self) -> Value:
        """Return the GraphQL filter."""
        return {
            "titleContains": self.title_contains,
            "agent": self.agent,
            "status": [self.status.upper()] if self.status else None,
            "updatedAfter": self.updated_after,
            "includeChildren": self.include_sub_agents or False,
        }


async def list_of_sessions(reader: Reader, listing: Listing, max_bytes: int) -> CallToolResult:
    """Answer with sessions, those that changed last first."""
    _check_time(listing.updated_after)
    settings = reader.settings
    first = min(listing.limit or _MAX_SESSIONS, _MAX_SESSIONS)
    first = max(1, min(first, settings.max_page_size, settings.max_rows - 1))
    data = await reader.data(
        queries.SESSIONS, first=first, after=listing.after, filter=listing.filter()
    )
    found = data["sessions"]
    total = found["totalCount"]
    structured = {"sessions": [], "total_count": total}
    header = labelled(f"{total:,} sessions, those that changed last first.")
    edges = found["edges"]
    longest = max((edge["cursor"] for edge in edges), key=len, default="")
    left = room(max_bytes, header, structured, listing.call(longest))
    lines: list[str] = []
    sessions: list[Value] = []
    cursor = None
    for edge in edges:
        line, shown_session = _session_line(edge["node"]), structured_session(edge["node"])
        left -= cost(line, shown_session) + 4
        if left < 0 and sessions:
            break
        lines.append(line)
        sessions.append(shown_session)
        cursor = edge["cursor"]
    has_more = len(sessions) < len(edges) or found["pageInfo"]["hasNextPage"]
    return answer(
        [*header, *lines],
        {**structured, "sessions": sessions},
        following=listing.call(cursor) if has_more and cursor else None,
    )


async def renamed(reader: Reader, session_id: str, title: str) -> CallToolResult:
    """Answer with a session's new title.

    Raises:
        ToolError: if it cannot have it.
    """
    reader.key(session_id)
    data = await reader.change(queries.UPDATE_TITLE, id=session_id, title=title)
    payload = data["updateSession"]
    if payload["errors"]:
        raise ToolError(payload["errors"][0]["message"])
    new = payload["session"]["title"]
    return answer(
        [f"The session's title is now {one_line(new, 500)}."],
        {"session_id": session_id, "title": new},
    )


def _check_time(given: str | None) -> None:
    """Check a time that a client gave.

    Raises:
        ToolError: if it is none.
    """
    try:
        if given is not None:
            parse_date_time(given)
    except ValueError as error:
        raise ToolError(
            "updated_after must be a time with its offset, such as 2026-11-30T09:00:00Z."
        ) from error


def structured_session(session: Value) -> Value:
    """Return a session as a line of structured output."""
    found = {
        "id": session["id"],
        "title": short(session["title"], 200),
        "agent": short(session["agent"]),
        "status": session["status"].lower(),
        "project": short(session["project"]["name"]),
        "created_at": session["createdAt"],
        "updated_at": session["updatedAt"],
        "cwd": short(session["cwd"], 300),
        "message_count": session["messageCount"],
        "tool_call_count": session["toolCallCount"],
        "output_bytes": session["contentSize"],
        "parent_id": session["parent"] and session["parent"]["id"],
    }
    return {name: value for name, value in found.items() if value is not None}


def _session_line(session: Value) -> str:
    title = one_line(session["title"], 200) if session["title"] else "(no title)"
    where = f", in {one_line(session['cwd'], 100)}" if session["cwd"] else ""
    return (
        f"- {session['id']} {title} ({one_line(session['agent'], 40)},"
        f" {session['status'].lower()}{where}): {session['messageCount']:,} messages,"
        f" {session['contentSize']:,} bytes of tool output, changed {session['updatedAt']}"
    )


def short(text: str | None, limit: int = 100) -> str | None:
    """Return a text that may be null, of at most so many bytes as it is sent."""
    return None if text is None else shortened(text, limit)
