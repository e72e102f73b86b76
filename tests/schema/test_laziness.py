"""What reaches the database: pages without contents, contents in one batch."""

from itertools import pairwise

import orjson
import pytest

from tests.builders import text_block, text_message, tool_message
from tests.schema.conftest import Api, content_of
from tests.statements import statements
from toolfold.transcript import ToolLocation

LIGHT = """
query ($id: ID!, $first: Int) {
  session(id: $id) {
    title messageCount toolCallCount contentSize usage { inputTokens }
    messages(first: $first) {
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { id } }
      nodes {
        id sequence revision role origin model usage { inputTokens outputTokens } createdAt repaired
        contentSize contentPreview contentOmitted { reason }
        attachments { url }
        toolMetadata {
          id toolCallId name title kind status startedAt endedAt locations { path line }
          childSession { id }
          contentSize contentHash contentState contentPreview contentUrl contentOmitted { reason }
          rawInput { size hash url omitted { reason } } rawOutput { size hash url }
        }
      }
    }
  }
}
"""
HEAVY = LIGHT.replace("contentUrl", "contentUrl content")
HEAVY_TABLES = ("content", "content_chunk")


def on_heavy_tables(seen: list[str]) -> list[str]:
    """Return the names of the heavy tables that statements read, one each time."""
    words = [sql.replace("\n", " ").split() for sql in seen]
    froms = [after for line in words for word, after in pairwise(line) if word == "FROM"]
    return sorted(name for name in froms if name in HEAVY_TABLES)


async def test_a_page_without_heavy_fields_touches_no_content(api: Api) -> None:
    session = await api.store(
        [
            text_message("x" * 20_000),
            text_message("y" * 5_000),
            *(tool_message(content_of(500, f"{n}")) for n in range(20)),
        ]
    )
    with statements(api.database) as seen:
        data = await api.data(LIGHT, id=session.id, first=50)
    nodes = data["session"]["messages"]["nodes"]
    assert len(nodes) == 22
    assert [node["contentPreview"] for node in nodes[:2]] == ["x" * 280, "y" * 280]
    assert on_heavy_tables(seen) == []
    assert not any("content_chunk" in sql or "message_text" in sql for sql in seen)


async def test_a_page_with_texts_of_any_size_is_one_statement_on_messages(api: Api) -> None:
    texts = ["short", "y" * 1_025, "z" * 16_384]
    session = await api.store([text_message(text) for text in texts])
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes {
      content contentSlice(length: 2) { text }
    } } } }
    """
    with statements(api.database) as seen:
        data = await api.data(document, id=session.id)
    assert data["session"]["messages"]["nodes"] == [
        {"content": text, "contentSlice": {"text": text[:2]}} for text in texts
    ]
    assert len([sql for sql in seen if "FROM message" in sql]) == 1
    assert on_heavy_tables(seen) == []


async def test_a_page_with_contents_runs_one_statement_per_table(api: Api) -> None:
    session = await api.store(
        [
            text_message("x" * 20_000),
            *(
                tool_message(content_of(300, f"{n}"), raw_input={"n": n}, raw_output=[n])
                for n in range(100)
            ),
        ]
    )
    document = """
    query ($id: ID!) { session(id: $id) { messages(first: 200, compact: false) { nodes {
      content toolMetadata { content blocks { __typename } rawInput { json } rawOutput { json } }
    } } } }
    """
    with statements(api.database) as seen:
        data = await api.data(document, id=session.id)
    nodes = data["session"]["messages"]["nodes"]
    assert nodes[0]["content"] == "x" * 20_000
    assert [n["toolMetadata"]["rawInput"]["json"] for n in nodes[1:]] == [
        {"n": n} for n in range(100)
    ]
    assert on_heavy_tables(seen) == ["content", "content_chunk"]


async def test_equal_contents_are_read_once(api: Api) -> None:
    session = await api.store([tool_message(content_of(400, "same")) for _ in range(5)])
    with statements(api.database) as seen:
        response = await api.run(HEAVY, id=session.id, first=10)
    assert on_heavy_tables(seen) == ["content", "content_chunk"]
    assert response["extensions"]["contentBudget"]["deliveredBytes"] == 2_000


async def test_only_the_selected_columns_are_read(api: Api) -> None:
    session = await api.store([tool_message(content_of(400))])
    document = """
    query ($id: ID!, $no: Boolean = false) { session(id: $id) { messages {
      nodes { ...F content @include(if: $no) toolMetadata { t: title } }
      edges { node { revision } }
    } } }
    fragment F on Message { role }
    """
    with statements(api.database) as seen:
        await api.data(document, id=session.id)
    (page,) = [sql for sql in seen if "FROM message" in sql]
    selected = page.split("FROM")[0]
    columns = {name.strip().removeprefix("message.") for name in selected[6:].split(",")}
    assert columns == {
        "sequence",
        "role",
        "revision",
        "tool_call_id",
        "tool_title",
    }


async def test_what_is_refused_is_not_read(api: Api) -> None:
    session = await api.store([tool_message(content_of(70_000))])
    with statements(api.database) as seen:
        await api.run(HEAVY, id=session.id, first=10)
    assert on_heavy_tables(seen) == []


async def test_related_objects_of_a_list_are_loaded_in_one_statement_each(api: Api) -> None:
    session = await api.store([tool_message(tool_call_id=f"c{n}") for n in range(30)], key="parent")
    for n in range(30):
        await api.store(
            [text_message()], key=f"child-{n}", parent_id="parent", parent_tool_call_id=f"c{n}"
        )
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { session { project { name } }
      toolMetadata { childSession { id parentToolCallId parent { id } } } } } } }
    """
    with statements(api.database) as seen:
        data = await api.data(document, id=session.id)
    children = [
        node["toolMetadata"]["childSession"] for node in data["session"]["messages"]["nodes"]
    ]
    assert [child["parentToolCallId"] for child in children] == [f"c{n}" for n in range(30)]
    assert {child["parent"]["id"] for child in children} == {session.id}
    # The session, its page, the calls' children, and the project; the session is loaded already.
    assert len(seen) == 4


LISTED = """
query ($id: ID!) { session(id: $id) { messages(first: 1000) { nodes {
  id sequence role createdAt contentPreview
  toolMetadata { id name title kind status contentSize contentPreview }
} } } }
"""


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_page_without_contents_is_a_fiftieth_of_the_page_with_them(api: Api) -> None:
    """Of 1,000 messages, half are calls of 50 KiB; what remains is mostly the fields' names."""
    api = api.with_settings(content_budget_bytes=64 * 1024 * 1024)
    messages = []
    for n in range(500):
        messages.append(text_message(f"Message {n}: " + "words " * 20))
        messages.append(
            tool_message(
                [text_block(f"{n} " + "output " * 7_300)],
                title=f"Read file {n}",
                locations=(ToolLocation(f"/home/dev/project/file_{n}.py", n + 1),),
                raw_input={"file_path": f"/home/dev/project/file_{n}.py"},
            )
        )
    session = await api.store(messages, key="81f81c4f-b860-4330-8fd1-844f8358829e")
    listed = orjson.dumps((await api.run(LISTED, id=session.id))["data"])
    light = orjson.dumps((await api.run(LIGHT, id=session.id, first=1_000))["data"])
    everything = HEAVY.replace("first: $first", "first: $first, compact: false")
    response = await api.run(everything, id=session.id, first=1_000)
    heavy = orjson.dumps(response["data"])
    assert response["extensions"]["contentBudget"]["omittedCount"] == 0
    assert len(heavy) > 500 * 50 * 1024
    assert len(listed) <= 0.02 * len(heavy)
    # Every light field there is, with hashes, URLs and each edge beside its node.
    assert len(light) <= 0.05 * len(heavy)
