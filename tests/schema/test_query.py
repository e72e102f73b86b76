"""The query roots: objects by id, and the limits that the server tells."""

import pytest

from tests.builders import add_project, text_message, tool_message
from tests.schema.conftest import Api, content_of
from toolfold.schema.global_id import encode

NODE = "query ($id: ID!) { node(id: $id) { __typename id } }"
NODES = """
query ($ids: [ID!]!, $compact: Boolean) { nodes(ids: $ids, compact: $compact) {
  __typename id
  ... on Message { sequence toolMetadata { content contentOmitted { reason } } }
  ... on ToolMetadata { toolCallId content }
  ... on Session { title }
  ... on Project { name }
} }
"""


async def test_every_kind_of_object_is_a_node(api: Api) -> None:
    session = await api.store([tool_message([1], tool_call_id="c")], title="T")
    ids = [encode("Project", "default"), session.id, session.message(1), session.tool(1)]
    for id_ in ids:
        assert (await api.data(NODE, id=id_))["node"]["id"] == id_
    data = await api.data(NODES, ids=ids)
    assert data["nodes"] == [
        {"__typename": "Project", "id": ids[0], "name": "default"},
        {"__typename": "Session", "id": ids[1], "title": "T"},
        {
            "__typename": "Message",
            "id": ids[2],
            "sequence": 1,
            "toolMetadata": {"content": [1], "contentOmitted": None},
        },
        {"__typename": "ToolMetadata", "id": ids[3], "toolCallId": "c", "content": [1]},
    ]


async def test_what_is_absent_malformed_or_of_another_type_is_null(api: Api) -> None:
    session = await api.store([text_message()])
    absent = [
        "",
        "nonsense",
        encode("Message", "default", "s", 2),
        encode("Message", "other", "s", 1),
        encode("ToolMetadata", "default", "s", 1),  # The message carries no tool call.
        encode("Session", "default", "t"),
        encode("Project", "x"),
        encode("Nothing", "x"),
    ]
    assert (await api.data(NODES, ids=absent))["nodes"] == [None] * len(absent)
    document = """
    query ($id: ID!) {
      a: message(id: $id) { id } b: session(id: $id) { id } c: project(id: $id) { id }
    }
    """
    for id_, found in ((session.id, "b"), (session.message(1), "a"), (absent[1], None)):
        data = await api.data(document, id=id_)
        assert {key for key, value in data.items() if value} == ({found} if found else set())


async def test_nodes_come_in_the_order_asked_and_may_repeat(api: Api) -> None:
    session = await api.store([text_message(), text_message()])
    ids = [session.message(2), session.message(1), session.message(2)]
    assert [node["id"] for node in (await api.data(NODES, ids=ids))["nodes"]] == ids


async def test_a_hundred_nodes_are_allowed_and_one_more_is_not(api: Api) -> None:
    assert (await api.data(NODES, ids=["x"] * 100))["nodes"] == [None] * 100
    response = await api.run(NODES, ids=["x"] * 101)
    (error,) = response["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "argument": "ids"}


async def test_nodes_are_in_bulk_and_a_node_is_not(api: Api) -> None:
    session = await api.store([tool_message(content_of(9_030))])
    (node,) = (await api.data(NODES, ids=[session.message(1)]))["nodes"]
    assert node["toolMetadata"] == {"content": None, "contentOmitted": {"reason": "COMPACT_MODE"}}
    (node,) = (await api.data(NODES, ids=[session.message(1)], compact=False))["nodes"]
    assert node["toolMetadata"]["content"] == content_of(9_030)
    document = "query ($id: ID!) { node(id: $id) { ... on ToolMetadata { content } } }"
    data = await api.data(document, id=session.tool(1))
    assert data["node"]["content"] == content_of(9_030)


async def test_projects_keep_their_objects_apart(api: Api) -> None:
    await api.database.write(lambda connection: add_project(connection, "p-1"))
    await api.store([text_message("mine")], project="p-1")
    await api.store([text_message("theirs")])
    document = "query ($id: ID!) { message(id: $id) { content session { project { name } } } }"
    data = await api.data(document, id=encode("Message", "p-1", "s", 1))
    assert data["message"] == {"content": "mine", "session": {"project": {"name": "p-1"}}}


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_limits_are_those_that_are_set(api: Api) -> None:
    document = """
    { limits { compactModeDefault compactBudgetBytes contentBudgetBytes maxSliceBytes maxRows
      maxPageSize maxDepth maxTokens maxAliases maxSelections } }
    """
    api = api.with_settings(compact_mode_default=False, max_rows=7)
    assert (await api.data(document))["limits"] == {
        "compactModeDefault": False,
        "compactBudgetBytes": 4_096,
        "contentBudgetBytes": 65_536,
        "maxSliceBytes": 1_048_576,
        "maxRows": 7,
        "maxPageSize": 1_000,
        "maxDepth": 15,
        "maxTokens": 2_000,
        "maxAliases": 30,
        "maxSelections": 500,
    }
