"""What an outline begins with: a session's facts, its sub-agents, and how to read it."""

from typing import Any

from toolfold.mcp_server.answers import fitting_lines
from toolfold.mcp_server.budget import cost
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.safe_text import one_line
from toolfold.mcp_server.sessions import local_id, short
from toolfold.mcp_server.slices import Value

_MAX_SUB_AGENTS = 5


def facts(session: Value) -> tuple[list[str], Value]:
    """Return what an outline begins with: lines, and what of it is structured."""
    counts = (
        f"{session['messageCount']:,} messages, {session['toolCallCount']:,} tool calls,"
        f" {session['contentSize']:,} bytes of tool output"
    )
    lines = [
        f"id {session['id']}{_other_ids(session)}",
        f"project {one_line(session['project']['name'], 100)}",
        f"from {session['createdAt']} to {session['updatedAt']}",
        counts,
    ]
    found: Value = {}
    if session["cwd"]:
        lines.append(f"folder {one_line(session['cwd'], 300)}")
    if session["gitBranch"]:
        lines[-1] += f", branch {one_line(session['gitBranch'], 100)}"
        found["git_branch"] = short(session["gitBranch"])
    if session["usage"]:
        usage = session["usage"]
        found["usage"] = {
            "input_tokens": usage["inputTokens"],
            "output_tokens": usage["outputTokens"],
            "cache_read_tokens": usage["cacheReadTokens"],
            "cache_creation_tokens": usage["cacheCreationTokens"],
        }
        lines.append(f"tokens {usage['inputTokens']:,} in, {usage['outputTokens']:,} out")
    if session["parent"]:
        parent = session["parent"]
        lines.append(f"a sub-agent of {parent['id']} {one_line(parent['title'], 100)}")
    return lines, found


def _other_ids(session: Value) -> str:
    """Return the other ids by which people and agents know a session."""
    source = session["sourceId"]
    agents = f", the agent's {one_line(source, 100)}" if source else ""
    return f", in `toolfold list` {one_line(local_id(session), 100)}{agents}"


def sub_agents(session: Value, given: int | None, left: int) -> tuple[list[str], Value]:
    """Return the first sub-agents of a session as far as they fit, and the call that lists all."""
    children = session["children"]
    count = children["totalCount"]
    if not count:
        return [], {}
    every = Call.of("list_sessions", parent_id=session["id"], max_bytes=given)
    lines, found = fitting_lines(
        (
            (
                f"- {one['id']} {one_line(one['title'], 80)}",
                {"id": one["id"], "title": short(one["title"], 80) or ""},
            )
            for one in children["nodes"][:_MAX_SUB_AGENTS]
        ),
        left - 2 * cost(str(every)),
    )
    lines.insert(0, f"{count:,} sub-agents:" if count > 1 else "A sub-agent:")
    structured: Value = {"sub_agents": found, "sub_agent_count": count}
    if len(found) < count:
        lines.append(f"All of them: {every}")
        structured["all_sub_agents"] = every.structured()
    return lines, structured


def ways_to_read(session: Value, given: int | None) -> list[str]:
    """Return the calls that read a session: from its beginning, from its end, what was said."""
    reading = Call.of("get_session_messages", session_id=session["id"])

    def call(**arguments: Any) -> Call:
        return Call.of(reading.tool, **reading.arguments, **arguments, max_bytes=given)

    return [
        f"Read it with {call()}",
        f"from its end with {call(before=session['messageCount'] + 1)}",
        f"without tool calls with {call(roles=['user', 'assistant'])}",
    ]
