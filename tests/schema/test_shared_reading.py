"""What two places of a response wait for is not lost to one by an error beside the other."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import text_block, text_message, tool_message
from tests.schema.conftest import Api, StoredSession
from toolfold import loaders
from toolfold.store.engine import Database

CONTENT = "nodes { toolMetadata { content } }"
FAILING = 'session { messages(first: 1, after: "bad") { totalCount } }'
PAGE = "messages(first: 60, compact: false)"

DOCUMENTS = {
    "two sessions": f"""
        query ($id: ID!) {{
          kept: session(id: $id) {{ {PAGE} {{ {CONTENT} }} }}
          lost: session(id: $id) {{ {PAGE} {{ nodes {{ toolMetadata {{ content }} {FAILING} }} }} }}
        }}
    """,
    "two sessions, the first fails": f"""
        query ($id: ID!) {{
          lost: session(id: $id) {{ {PAGE} {{ nodes {{ toolMetadata {{ content }} {FAILING} }} }} }}
          kept: session(id: $id) {{ {PAGE} {{ {CONTENT} }} }}
        }}
    """,
    "nodes without a generated function": f"""
        query ($id: ID!, $calls: [ID!]!) {{
          lost: session(id: $id) {{ {PAGE} {{ nodes {{ toolMetadata {{ content }} {FAILING} }} }} }}
          kept: nodes(ids: $calls, compact: false) {{
            ... on ToolMetadata {{ content contentText {{ text }} }}
          }}
        }}
    """,
}


@pytest.fixture
async def session(api: Api) -> StoredSession:
    """Twelve calls among as many texts."""
    calls = [tool_message([text_block(f"Output {number}")]) for number in range(12)]
    texts = [text_message() for _ in range(12)]
    return await api.store([one for pair in zip(calls, texts, strict=True) for one in pair])


@pytest.mark.parametrize("document", list(DOCUMENTS))
async def test_an_error_beside_one_place_leaves_the_other_its_content(
    api: Api, session: StoredSession, document: str
) -> None:
    calls = [session.tool(sequence) for sequence in range(1, 25, 2)]
    for _ in range(5):
        variables = {"calls": calls} if "$calls" in DOCUMENTS[document] else {}
        response = await api.run(DOCUMENTS[document], id=session.id, **variables)
        assert {error["extensions"]["code"] for error in response["errors"]} == {"BAD_USER_INPUT"}
        assert {error["path"][0] for error in response["errors"]} == {"lost"}
        kept = response["data"]["kept"]
        shown = kept if isinstance(kept, list) else kept["messages"]["nodes"]
        contents = [(one.get("toolMetadata") or one).get("content") for one in shown]
        assert [one for one in contents if one] == [
            [text_block(f"Output {number}")] for number in range(12)
        ]


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.Event]:
    """Let no session be read to its end; the events are of its beginning and its end."""
    events = [asyncio.Event(), asyncio.Event()]

    async def never(_database: Database, _keys: Sequence[Any]) -> list[Any]:
        began, ended = events
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    monkeypatch.setattr(loaders, "load_sessions", never)
    return events


async def test_what_an_operation_left_unread_is_read_no_more(database: Database) -> None:
    asked: list[Any] = []

    async def load(_database: Database, keys: Sequence[Any]) -> list[Any]:
        asked.extend(keys)
        return list(keys)

    loader: loaders.Loader[str, str] = loaders.Loader(database, load)
    assert await loader.load("read") == "read"
    left = loader.begin("left")
    loader.end()
    await asyncio.wait([left], timeout=0.05)
    assert not left.done()
    assert asked == ["read"]


async def test_what_was_loaded_is_let_go_with_its_loader(database: Database) -> None:
    async def load(_database: Database, keys: Sequence[Any]) -> list[Any]:
        return [set(keys)]

    loader: loaders.Loader[str, set[str]] = loaders.Loader(database, load)
    held = weakref.ref(await loader.load("key"))
    assert held() == {"key"}
    await asyncio.sleep(0)
    gc.disable()
    try:
        del loader
        assert held() is None
    finally:
        gc.enable()


async def test_a_cancelled_operation_reads_no_more(
    api: Api, session: StoredSession, reading: list[asyncio.Event]
) -> None:
    began, ended = reading
    document = "query ($id: ID!) { message(id: $id) { session { id } } }"
    running = asyncio.ensure_future(api.run(document, id=session.message(1)))
    async with asyncio.timeout(5):
        await began.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await ended.wait()
