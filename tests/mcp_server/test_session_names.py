"""The ids by which people and agents know a session, and the sub-agents that it has."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

from tests.builders import store_session, text_block, tool_message
from tests.mcp_server.asking import Mcp, text_of
from toolfold.schema.global_id import encode
from toolfold.store.engine import Database

LOCAL, SOURCE = "57a72d51-d8dc", "81f81c4f-b860"
SESSION = encode("Session", "default", LOCAL)
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_session", {}),
    ("get_session_messages", {}),
    ("get_message", {"sequence": 1}),
    ("get_tool_content", {"sequence": 1}),
]


@pytest.fixture
async def named(mcp: Mcp, database: Database) -> Mcp:
    """Give a client of a server with sessions that have ids of their agents."""
    await store_session(
        database,
        [tool_message([text_block("output")])],
        session_id=LOCAL,
        source_session=SOURCE,
        title="Mine",
    )
    for at in range(12):
        await store_session(
            database,
            session_id=f"child-{at:02}",
            source_session=f"{SOURCE}/agent-{at:02}",
            parent_id=LOCAL,
            title=f"Helper {at}",
            created_at=f"2026-01-01T00:00:{at:02}.000Z",
        )
    return mcp


@pytest.mark.parametrize("name", [SESSION, LOCAL, LOCAL[:4], SOURCE, SOURCE[:8]])
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_a_session_goes_by_every_id_that_people_have(
    named: Mcp, tool: str, arguments: dict[str, Any], name: str
) -> None:
    by_id = await named.call(tool, session_id=SESSION, **arguments)
    assert await named.call(tool, session_id=name, **arguments) == by_id


@pytest.mark.parametrize("name", [LOCAL, SOURCE[:8]])
async def test_resources_and_prompts_take_these_ids_too(named: Mcp, name: str) -> None:
    for uri in (name, f"{name}/message/1", f"{name}/message/1/content"):
        read = await named.client.read_resource(f"toolfold://session/{uri}")
        assert '"Mine"' in read.contents[0].text  # type: ignore[union-attr]  # it is text
    prompt = await named.client.get_prompt("continue_session", {"session_id": name})
    assert SESSION in prompt.messages[0].content.text  # type: ignore[union-attr]  # it is text


async def test_an_id_that_is_not_clear_or_of_nothing_is_refused_in_a_sentence(named: Mcp) -> None:
    refusal = await named.refusal("get_session", session_id="child-")
    assert refusal.startswith('"child-" may be any of 10 sessions: U2Vz')
    for nothing in ("none", "", " ", "a\0", "x" * 2_000):
        assert "There is no session" in await named.refusal("get_session", session_id=nothing)
    with pytest.raises(MCPError, match="may be any of 10 sessions"):
        await named.client.get_prompt("continue_session", {"session_id": "child-"})


async def test_lists_and_outlines_show_these_ids_and_the_list_finds_by_them(named: Mcp) -> None:
    for name in (LOCAL, SOURCE, SOURCE[:4]):
        found = await named.call("list_sessions", id_begins=name)
        (session,) = found["sessions"]
        assert (session["id"], session["local_id"], session["source_id"]) == (
            SESSION,
            LOCAL,
            SOURCE,
        )
    assert f'id "{LOCAL}"' in await named.text("list_sessions")
    outline = await named.text("get_session", session_id=SESSION)
    ids = f'id {SESSION}, in `toolfold list` "{LOCAL}", the agent\'s "{SOURCE}"'
    assert ids in outline.split("\n")


@pytest.mark.parametrize("typed", [LOCAL[:3], SOURCE[:3]])
async def test_these_ids_are_completed(named: Mcp, typed: str) -> None:
    reference = PromptReference(type="ref/prompt", name="continue_session")
    argument = {"name": "session_id", "value": typed}
    completed = await named.client.complete(reference, argument)
    assert completed.completion.values == [LOCAL if LOCAL.startswith(typed) else SOURCE]


@pytest.mark.parametrize("max_bytes", [8_000, 40_000])
async def test_every_sub_agent_is_reached_from_the_outline(named: Mcp, max_bytes: int) -> None:
    result = await named.result("get_session", session_id=SESSION, max_bytes=max_bytes)
    outline = result.structured_content or {}
    assert outline["sub_agent_count"] == 12
    assert 0 < len(outline["sub_agents"]) < 12
    assert "\n12 sub-agents:\n" in text_of(result)
    page = await named.follow(outline["all_sub_agents"])
    assert page["total_count"] == 12
    listed = page["sessions"]
    while "next" in page:
        page = await named.follow(page["next"])
        listed += page["sessions"]
    assert [one["title"] for one in listed] == [f"Helper {at}" for at in range(12)]
    assert {one["parent_id"] for one in listed} == {SESSION}
    text = await named.text("list_sessions", parent_id=LOCAL)
    assert f"a sub-agent of {SESSION}" in text
    assert '12 sub-agents of session "Mine"' in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"parent_id": "nothing"}, "There is no session"),
        ({"parent_id": LOCAL, "agent": "x"}, "parent_id does not go with agent."),
        ({"id_begins": "x", "parent_id": LOCAL}, "id_begins does not go with parent_id."),
    ],
)
async def test_a_list_says_what_does_not_go_together(
    named: Mcp, arguments: dict[str, str], said: str
) -> None:
    assert said in await named.refusal("list_sessions", **arguments)
