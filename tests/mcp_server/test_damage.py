"""What is shown of a session some of whose stored contents are damaged."""

import pytest
from sqlalchemy import text

from tests.builders import store_session, text_block, text_message, tool_message
from tests.mcp_server.asking import Mcp
from toolfold.schema.global_id import encode
from toolfold.store.engine import Database
from toolfold.transcript import Message, ToolStatus

SESSION = encode("Session", "default", "session-1")
LONG = "x" * 100_000


def messages() -> list[Message]:
    """Return messages with a part of each sort that is stored as a content of its own."""
    return [
        text_message(LONG),
        tool_message([text_block("output")], status=ToolStatus.FAILED, name="Bash"),
        tool_message(raw_input={"x": LONG}),
        tool_message(raw_output=LONG),
        text_message("Still here."),
    ]


@pytest.fixture
async def damaged(mcp: Mcp, database: Database) -> Mcp:
    """Give a client of a server whose contents are all damaged."""
    await store_session(database, messages())
    await database.write(
        lambda connection: connection.execute(
            text("UPDATE content_chunk SET data = :data"), {"data": b"damaged"}
        )
    )
    return mcp


@pytest.mark.parametrize(
    ("sequence", "part", "label"),
    [
        (1, "text", "text"),
        (2, "output", "output"),
        (3, "input", "input"),
        (4, "raw_output", "raw output"),
    ],
)
@pytest.mark.parametrize("tool", ["get_session_messages", "get_message"])
async def test_a_message_says_what_of_it_is_damaged(
    damaged: Mcp, tool: str, sequence: int, part: str, label: str
) -> None:
    place = {"sequence": sequence} if tool == "get_message" else {"after": sequence - 1}
    shown = await damaged.text(tool, session_id=SESSION, **place)
    assert f"\n{label}, " in shown
    assert " bytes as stored, cannot be read. The stored content sha256:" in shown
    found = await damaged.call(tool, session_id=SESSION, **place)
    message = found["message"] if tool == "get_message" else found["messages"][0]
    value = message[part] if part == "text" else message["tool_call"][part]
    assert "is damaged" in value["problem"]
    assert value["text"] == ""
    assert "next" not in value


async def test_a_page_goes_on_after_what_is_damaged(damaged: Mcp) -> None:
    found = await damaged.call("get_session_messages", session_id=SESSION)
    assert [message["sequence"] for message in found["messages"]] == [1, 2, 3, 4, 5]
    assert found["messages"][4]["text"]["text"] == "Still here."


async def test_an_outline_is_there_whatever_is_damaged(damaged: Mcp) -> None:
    found = await damaged.call("get_session", session_id=SESSION)
    assert [turn["sequence"] for turn in found["turns"]] == [1, 5]
    assert [failure["sequence"] for failure in found["failures"]] == [2]


@pytest.mark.parametrize(
    "arguments",
    [
        {"sequence": 2},
        {"sequence": 2, "tail": 1},
        {"sequence": 2, "find": "out"},
        {"sequence": 2, "part": "output_json"},
        {"sequence": 3, "part": "input"},
        {"sequence": 4, "part": "raw_output"},
    ],
)
async def test_reading_what_is_damaged_is_refused_in_a_sentence(
    damaged: Mcp, arguments: dict[str, int | str]
) -> None:
    refusal = await damaged.refusal("get_tool_content", session_id=SESSION, **arguments)
    assert refusal.startswith("The stored content sha256:")
