"""What an answer costs grows neither with the session nor with an output that it shows in part."""

import tracemalloc
from collections.abc import Iterator
from typing import Any

from tests.builders import store_session, text_block, text_message, tool_message
from tests.mcp_server.asking import Mcp
from tests.statements import statements
from toolfold.schema.global_id import encode
from toolfold.store.engine import Database
from toolfold.transcript import Message, MessageRole, ToolKind, ToolLocation

SMALL, LARGE = (encode("Session", "default", name) for name in ("small", "large"))
OUTPUT = text_block("a line of output\n" * 20)
CALLS: dict[str, dict[str, Any]] = {
    "list": {"tool": "list_sessions"},
    "outline": {"tool": "get_session"},
    "first page": {"tool": "get_session_messages"},
    "page in the middle": {"tool": "get_session_messages", "after": 200},
    "last page": {"tool": "get_session_messages", "before": 400},
    "one message": {"tool": "get_message", "sequence": 2},
    "one output": {"tool": "get_tool_content", "sequence": 2, "tail": 3},
}


def messages(count: int) -> Iterator[Message]:
    """Yield a session as they are: a question, then calls and words of the agent's."""
    for number in range(count):
        if number % 40 == 0:
            yield text_message(f"Question {number}?")
        elif number % 2:
            place = ToolLocation(f"/src/file_{number % 30}.py", None)
            kind = ToolKind.EDIT if number % 6 == 1 else ToolKind.READ
            yield tool_message([OUTPUT], kind=kind, name="Read", locations=(place,))
        else:
            yield text_message(f"I look at {number}.", MessageRole.ASSISTANT)


async def test_an_answer_takes_as_many_statements_in_a_session_a_hundred_times_as_long(
    mcp: Mcp, database: Database
) -> None:
    await store_session(database, list(messages(400)), session_id="small")
    await store_session(database, list(messages(40_000)), session_id="large")
    for name, call in CALLS.items():
        counts = []
        for session_id in (SMALL, LARGE):
            arguments = {key: value for key, value in call.items() if key != "tool"}
            if call["tool"] != "list_sessions":
                arguments["session_id"] = session_id
            with statements(database) as seen:
                await mcp.call(call["tool"], **arguments)
            counts.append(len(seen))
        # Bodies are read together, in whatever order an answer is filled.
        assert counts[0] < 25, name
        assert counts[0] == counts[1], name


async def test_a_part_of_a_large_output_takes_no_more_memory_than_of_a_small_one(
    mcp: Mcp, database: Database
) -> None:
    line = "all work and no play makes a dull output\n"
    for name, count in (("small", 50_000), ("large", 400_000)):
        content = [text_block(line * count)]
        await store_session(database, [tool_message(content)], session_id=name)
    peaks = {}
    calls: list[dict[str, Any]] = [{}, {"tail": 5}, {"find": "dull"}, {"from_line": 40_000}]
    for session_id in (SMALL, LARGE, SMALL, LARGE):
        tracemalloc.start()
        try:
            for arguments in calls:
                given = {"session_id": session_id, "sequence": 1, **arguments}
                await mcp.call("get_tool_content", **given)
            peaks[session_id] = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    # The small one has 2 MB, the large one 16.
    assert peaks[LARGE] < 1.25 * peaks[SMALL]


async def test_a_call_that_reads_on_reads_what_it_shows_and_not_what_stands_before(
    mcp: Mcp, database: Database
) -> None:
    output = "".join(f"line {number} {'needle' * (not number % 5)}\n" for number in range(900_000))
    await store_session(database, [tool_message([text_block(output)])], session_id="large")

    async def read(**arguments: Any) -> tuple[Any, int]:
        given = {"session_id": LARGE, "sequence": 1, **arguments}
        with statements(database) as seen:
            found = await mcp.call("get_tool_content", **given)
        return found, sum("FROM content_chunk" in sql for sql in seen)

    async def on(found: Any) -> tuple[Any, int]:
        return await read(**found["next"]["arguments"])

    # Of 55 chunks; places at which a text can be read on lie four apart.
    page, chunks = await read()
    assert chunks < 8
    assert (await on(page))[1] < 8
    assert (await read(head=5))[1] < 8
    last, chunks = await read(tail=5)
    assert chunks >= 55
    assert last["text"] == output[output.index("line 899995") :]
    middle, chunks = await read(from_line=450_001)
    assert middle["text"].startswith("line 450000 ")
    assert chunks < 16
    assert (await on(middle))[1] < 8
    assert (await read(tail=3_000))[1] < 16
    found, chunks = await read(find="NEEDLE")
    assert found["match_count"] == 180_000
    assert chunks >= 55
    for _ in range(3):
        found, chunks = await on(found)
        assert len(found["matches"]) == 100
        assert chunks < 8
