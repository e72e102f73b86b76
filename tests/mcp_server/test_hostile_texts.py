"""Answers near the least budget over light fields that are as long and as costly as may be."""

from dataclasses import replace
from typing import Any

import pytest

from tests.builders import store_images, store_session, text_block, text_message, tool_message
from tests.mcp_server.asking import Mcp
from tests.mcp_server.test_files import IMAGE
from toolfold.schema.global_id import encode
from toolfold.store.engine import Database
from toolfold.transcript import Attachment, MessageRole, ToolKind, ToolLocation, ToolStatus

SESSION = encode("Session", "default", "session-1")
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_sessions", {"include_sub_agents": True}),
    ("get_session", {}),
    ("get_session", {"after": 1}),
    ("get_session_messages", {}),
    ("get_session_messages", {"after": 1}),
    ("get_message", {"sequence": 1}),
    ("get_message", {"sequence": 1, "after_file": 0}),
    ("get_message", {"sequence": 2}),
    ("get_message", {"sequence": 2, "after_file": 0}),
    ("get_tool_content", {"sequence": 2}),
    ("get_tool_content", {"sequence": 2, "part": "input"}),
]


async def store_hostile(database: Database, text: str) -> None:
    """Store a session all of whose light fields are made of this, as long as they may be."""
    long = text * 3_000
    name, title, path = long[:200], long[:500], f"/{long[:4_000]}"
    call = tool_message(
        [text_block(long), IMAGE],
        name=name,
        title=title,
        tool_call_id=name,
        kind=ToolKind.EDIT,
        status=ToolStatus.FAILED,
        locations=(ToolLocation(path, 2**31 - 1),) * 16,
        raw_input={"x": long},
        raw_output=long,
    )
    files = tuple(Attachment(f"{at}".encode(), name[:100], name) for at in range(12))
    said = text_message(long, attachments=files, origin=name)
    answered = text_message(long, MessageRole.ASSISTANT, model=name, origin=name)
    light = {"title": title, "agent": name, "cwd": path, "git_branch": name}
    await store_session(database, [said, replace(call, origin=name, model=name), answered], **light)
    await store_images(database, [text_block(long), IMAGE])
    for at in range(12):
        await store_session(
            database, [], session_id=f"child-{at}", parent_id="session-1", title=title, agent=name
        )


@pytest.mark.parametrize("max_bytes", [8_000, 9_000, 10_000])
@pytest.mark.parametrize(
    "text", ["長い日本語の題名", "😀", "\x1b", '\u202e"\\', "👩\u200d🚀é", "Ж"], ids=ascii
)
async def test_every_answer_is_within_its_budget_whatever_was_recorded(
    mcp: Mcp, database: Database, text: str, max_bytes: int
) -> None:
    await store_hostile(database, text)
    for tool, arguments in [*CALLS, ("get_tool_content", {"sequence": 2, "find": text[0]})]:
        of_session = {} if tool == "list_sessions" else {"session_id": SESSION}
        # Every answer of this client is held to its budget.
        await mcp.call(tool, **of_session, **arguments, max_bytes=max_bytes)
