"""A content that is replaced after a query has read its message, and before it is read itself."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from tests.builders import text_block, tool_message
from tests.ingest.stored import contents, findings
from tests.schema.conftest import SCHEMA
from tests.schema.following import Live
from toolfold.ingest import lifecycle
from toolfold.schema.global_id import encode, session_key
from toolfold.server.sweeping import KEPT_SECONDS, sweep
from toolfold.settings import Settings
from toolfold.store import content
from toolfold.store.engine import Database
from toolfold.transcript import Message, MessageRole, ToolCallUpdate

OLD, NEW = "old " * 5_000, "old " * 5_000 + "and new"
TEXT = Message("text", MessageRole.ASSISTANT, OLD)
CALL = tool_message([text_block(OLD)], client_id="call", tool_call_id="c", raw_output=OLD)
SHOWN = OLD[:9]


@pytest.fixture
async def live(database: Database) -> Live:
    return Live.over(database, compact_mode_default=False)


async def replace(live: Live) -> None:
    await live.write(
        Message("text", MessageRole.ASSISTANT, NEW),
        ToolCallUpdate("c", content=[text_block(NEW)], raw_output=NEW),
    )


async def sweep_at(live: Live, seconds: float) -> None:
    """Sweep as the server does, so many seconds from now."""
    now = datetime.now(UTC) + timedelta(seconds=seconds)
    await sweep(live.resources.database, live.resources.settings, now=now)


@pytest.mark.parametrize("reader", ["by_hashes", "slice"])
async def test_a_query_reads_what_its_messages_were(
    live: Live, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    id_ = await live.write(TEXT, CALL)
    read = getattr(content, reader)
    met: list[object] = []

    async def replace_first(*arguments: Any) -> Any:
        met.append(arguments)
        if len(met) == 1:
            await replace(live)
            await sweep_at(live, KEPT_SECONDS)
        return await read(*arguments)

    monkeypatch.setattr(content, reader, replace_first)
    heavy = {
        "by_hashes": "content contentLines { lines }",
        "slice": "contentSlice(length: 9) { text totalSize }",
    }[reader]
    raw = {"by_hashes": "json", "slice": "slice(length: 9) { text totalSize }"}[reader]
    of_text = {"by_hashes": "content", "slice": "contentSlice(length: 9) { text totalSize }"}
    document = f"""
    query ($id: ID!) {{ session(id: $id) {{ messages {{ nodes {{
      contentSize {of_text[reader]}
      toolMetadata {{ contentSize {heavy} rawOutput {{ size {raw} }} }}
    }} }} }} }}
    """
    result = await SCHEMA.execute(document, {"id": id_}, context_value=live.resources)
    assert result.errors is None
    assert met
    text, call = result.data["session"]["messages"]["nodes"]  # type: ignore[index]
    size = len(OLD)
    assert text["contentSize"] == size
    of_call = call["toolMetadata"]
    assert (of_call["contentSize"], of_call["rawOutput"]["size"]) == (size + 56, size + 2)
    if reader == "slice":
        assert text["contentSlice"] == {"text": SHOWN, "totalSize": size}
        assert of_call["contentSlice"]["totalSize"] == size + 56
        assert of_call["rawOutput"]["slice"] == {"text": f'"{OLD[:8]}', "totalSize": size + 2}
    else:
        assert text["content"] == OLD
        assert of_call["contentLines"] == {"lines": [OLD]}
    assert await findings(live.resources.database) == []


@pytest.mark.parametrize(
    ("reader", "field"),
    [
        ("by_hashes", "content"),
        ("by_hashes", "contentLines { lines }"),
        ("slice", "contentSlice(length: 9) { text }"),
    ],
)
async def test_a_content_that_is_deleted_meanwhile_is_told_as_such(
    live: Live, monkeypatch: pytest.MonkeyPatch, reader: str, field: str
) -> None:
    id_ = await live.write(tool_message([text_block(OLD)]))
    key = session_key(id_)
    assert key is not None
    read = getattr(content, reader)

    async def delete_first(*arguments: Any) -> Any:
        monkeypatch.setattr(content, reader, read)
        remove = partial(lifecycle.remove, project_id=key[0], session_id=key[1])
        await live.resources.database.write(remove)
        return await read(*arguments)

    monkeypatch.setattr(content, reader, delete_first)
    document = f"""
    query ($id: ID!) {{ session(id: $id) {{ messages {{ nodes {{
      sequence toolMetadata {{ {field} }}
    }} }} }} }}
    """
    result = await SCHEMA.execute(document, {"id": id_}, context_value=live.resources)
    assert [error.extensions for error in result.errors or ()] == [{"code": "NOT_FOUND"}]
    [node] = result.data["session"]["messages"]["nodes"]  # type: ignore[index]
    assert (node["sequence"], [*node["toolMetadata"].values()]) == (1, [None])


async def test_what_was_replaced_is_deleted_when_no_query_can_ask_for_it(live: Live) -> None:
    id_ = await live.write(TEXT, CALL)
    before = await contents(live.resources.database)
    await replace(live)
    settings: Settings = live.resources.settings
    await sweep_at(live, KEPT_SECONDS + settings.query_seconds - 5)
    assert before.keys() < (await contents(live.resources.database)).keys()
    assert await findings(live.resources.database) == []
    await sweep_at(live, KEPT_SECONDS + settings.query_seconds + 5)
    left = await contents(live.resources.database)
    assert len(left) == 3
    assert before.keys().isdisjoint(left)
    assert await findings(live.resources.database) == []
    key = session_key(id_)
    assert key is not None
    message = encode("Message", *key, 1)
    document = "query ($id: ID!) { message(id: $id) { content } }"
    result = await SCHEMA.execute(document, {"id": message}, context_value=live.resources)
    assert (result.errors, result.data) == (None, {"message": {"content": NEW}})


async def test_what_is_in_use_again_stays(live: Live) -> None:
    await live.write(CALL)
    await live.write(ToolCallUpdate("c", content=["other"], raw_output=None))
    await live.write(ToolCallUpdate("c", content=[text_block(OLD)]))
    await sweep_at(live, 1_000)
    (left,) = (await contents(live.resources.database)).values()
    assert OLD.encode() in left
    assert await findings(live.resources.database) == []
    await live.write(ToolCallUpdate("c", content=["other"]))
    await sweep_at(live, 1_000)
    assert set((await contents(live.resources.database)).values()) == {b'["other"]'}
