"""Completes the ids of sessions, and the numbers of messages, while they are typed."""

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from toolfold.mcp_server import queries
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import is_storable
from toolfold.mcp_server.sessions import local_id

_MAX_VALUES = 100
"""MCP takes no more."""

_MAX_LOOKED_AT = 1_000
_MAX_CHARACTERS = 1_000


def add_completion(server: MCPServer[None], reader: Reader) -> None:
    """Register what completes."""

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]  # it has no types
    async def complete(
        ref: PromptReference | ResourceTemplateReference,  # noqa: ARG001 (arguments have one meaning)
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        if not is_storable(argument.value):
            return _completion([])
        if argument.name in ("id", "session_id"):
            return await _sessions(reader, argument.value)
        if argument.name == "sequence":
            given = (context and context.arguments) or {}
            return await _sequences(reader, given.get("id", ""), argument.value)
        return None


async def _sessions(reader: Reader, typed: str) -> Completion:
    """Return ids that begin with what was typed; else those of sessions whose titles contain it.

    The agent's ids, and those of `toolfold list`, are completed as they are.
    """
    found = await _ids(reader, None)
    values = [id_ for id_ in found if id_.startswith(typed)]
    if not values and typed:
        others = [(local_id(one), one["sourceId"] or "") for one in await reader.named(typed)]
        values = [id_ for ids in others for id_ in ids if id_.startswith(typed)]
    if not values:
        values = await _ids(reader, typed[:_MAX_CHARACTERS])
    return _completion(values)


async def _ids(reader: Reader, title: str | None) -> list[str]:
    first = min(_MAX_LOOKED_AT, reader.settings.max_page_size, reader.settings.max_rows)
    where = {"titleContains": title, "includeChildren": True}
    data = await reader.data(queries.SESSION_IDS, first=first, filter=where)
    return [node["id"] for node in data["sessions"]["nodes"]]


async def _sequences(reader: Reader, session_id: str, typed: str) -> Completion:
    try:
        session = await reader.session(queries.COUNT, await reader.session_id(session_id))
    except ToolError:
        return _completion([])
    count = session["messageCount"]
    if not typed:
        return _completion([str(number) for number in range(1, count + 1)])
    if not (typed.isascii() and typed.isdigit()) or typed.startswith("0") or len(typed) > 9:  # noqa: PLR2004 (digits of an Int)
        return _completion([])
    # What begins with these digits is one range for each number of digits.
    first, last = int(typed), int(typed)
    values: list[str] = []
    while first <= count:
        values += [str(number) for number in range(first, min(last, count) + 1)]
        first, last = first * 10, last * 10 + 9
    return _completion(values)


def _completion(values: list[str]) -> Completion:
    shown = values[:_MAX_VALUES]
    return Completion(values=shown, total=len(values), has_more=len(values) > len(shown))
