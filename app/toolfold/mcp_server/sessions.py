"""The tools that list sessions and name them."""

from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from toolfold.mcp_server import queries
from toolfold.mcp_server.answers import answer, labelled, room, session_words
from toolfold.mcp_server.budget import cost
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import one_line, shortened
from toolfold.mcp_server.slices import Value
from toolfold.schema.global_id import session_key
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
    id_begins: str | None = None
    parent_id: str | None = None
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
            parent_id=self.parent_id,
            limit=self.limit,
            after=after,
            max_bytes=self.max_bytes,
        )

    def check(self) -> None:
        """Check that the arguments go together.

        Raises:
            ToolError: saying which do not.
        """
        names = ("title_contains", "agent", "status", "updated_after", "include_sub_agents")
        others = [name for name in (*names, "parent_id") if getattr(self, name)]
        for name in ("id_begins", "parent_id"):
            beside = [other for other in others if other != name]
            if getattr(self, name) is not None and beside:
                raise ToolError(f"{name} does not go with {beside[0]}.")
        if self.updated_after is not None:
            _check_time(self.updated_after)

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
    listing.check()
    found, said = await _found(reader, listing)
    total = found["totalCount"]
    structured = {"sessions": [], "total_count": total}
    header = labelled(f"{total:,} {said}.")
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


async def _found(reader: Reader, listing: Listing) -> tuple[Value, str]:
    """Return a connection of the sessions that are asked for, and in words what they are."""
    if listing.id_begins is not None:
        named = await reader.named(listing.id_begins)
        edges = [{"cursor": "", "node": one} for one in named[: listing.limit]]
        page = {"edges": edges, "pageInfo": {"hasNextPage": False}, "totalCount": len(named)}
        return page, "sessions with this id, at most ten"
    settings = reader.settings
    first = min(listing.limit or _MAX_SESSIONS, _MAX_SESSIONS)
    first = max(1, min(first, settings.max_page_size, settings.max_rows - 1))
    place: Value = {"first": first, "after": listing.after}
    if listing.parent_id is not None:
        session = await reader.session(queries.CHILDREN, listing.parent_id, **place)
        return session["children"], f"sub-agents of {session_words(session)}, oldest first"
    data = await reader.data(queries.SESSIONS, **place, filter=listing.filter())
    return data["sessions"], "sessions, those that changed last first"


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


def _check_time(given: str) -> None:
    """Check a time that a client gave.

    Raises:
        ToolError: if it is none.
    """
    try:
        parse_date_time(given)
    except ValueError as error:
        raise ToolError(
            "updated_after must be a time with its offset, such as 2026-11-30T09:00:00Z."
        ) from error


def structured_session(session: Value) -> Value:
    """Return a session as a line of structured output."""
    found = {
        "id": session["id"],
        "local_id": short(local_id(session)),
        "source_id": short(session["sourceId"]),
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
    if session["parent"]:
        where += f", a sub-agent of {session['parent']['id']}"
    return (
        f"- {session['id']} {title} ({one_line(session['agent'], 40)},"
        f" {session['status'].lower()}, id {one_line(local_id(session), 40)}{where}):"
        f" {session['messageCount']:,} messages,"
        f" {session['contentSize']:,} bytes of tool output, changed {session['updatedAt']}"
    )


def local_id(session: Value) -> str:
    """Return a session's id within its project, as `toolfold list` shows it."""
    key = session_key(session["id"])
    return key[1] if key else ""


def short(text: str | None, limit: int = 100) -> str | None:
    """Return a text that may be null, of at most so many bytes as it is sent."""
    return None if text is None else shortened(text, limit)
