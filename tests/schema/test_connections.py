"""Pages of messages, sessions and projects, through the schema."""

from typing import Any

import pytest

from tests.builders import NOW, add_project, text_message, tool_message
from tests.schema.conftest import Api, StoredSession
from toolfold.schema.global_id import encode
from toolfold.transcript import MessageRole, ToolKind, ToolStatus

MESSAGES = """
query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String, $around: Int,
       $filter: MessageFilter) {
  session(id: $id) {
    messages(first: $first, after: $after, last: $last, before: $before, aroundSequence: $around,
             filter: $filter) {
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { sequence } }
      nodes { sequence }
    }
  }
}
"""
SESSIONS = """
query ($first: Int, $after: String, $last: Int, $before: String, $filter: SessionFilter,
       $order: SessionOrder) {
  sessions(first: $first, after: $after, last: $last, before: $before, filter: $filter,
           orderBy: $order) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage endCursor startCursor }
    edges { cursor }
    nodes { id title }
  }
}
"""


async def stored(api: Api, count: int = 12, key: str = "s") -> StoredSession:
    return await api.store([text_message(f"{n}") for n in range(1, count + 1)], key=key)


async def page(api: Api, session: StoredSession, **arguments: Any) -> dict[str, Any]:
    data = await api.data(MESSAGES, id=session.id, **arguments)
    connection: dict[str, Any] = data["session"]["messages"]
    return connection


def sequences(connection: dict[str, Any]) -> list[int]:
    assert [edge["node"] for edge in connection["edges"]] == connection["nodes"]
    return [node["sequence"] for node in connection["nodes"]]


async def test_paging_forward_meets_each_message_once(api: Api) -> None:
    session = await stored(api)
    met: list[int] = []
    after = None
    while True:
        connection = await page(api, session, first=5, after=after)
        met += sequences(connection)
        info = connection["pageInfo"]
        assert info["hasPreviousPage"] is (after is not None)
        assert info["endCursor"] == connection["edges"][-1]["cursor"]
        if not info["hasNextPage"]:
            break
        after = info["endCursor"]
    assert met == list(range(1, 13))


async def test_paging_backward_keeps_the_order_of_edges(api: Api) -> None:
    session = await stored(api)
    latest = await page(api, session, last=5)
    assert sequences(latest) == [8, 9, 10, 11, 12]
    assert latest["pageInfo"]["hasPreviousPage"] is True
    assert latest["pageInfo"]["hasNextPage"] is False
    earlier = await page(api, session, last=5, before=latest["pageInfo"]["startCursor"])
    assert sequences(earlier) == [3, 4, 5, 6, 7]
    assert earlier["pageInfo"]["hasNextPage"] is True
    first = await page(api, session, last=5, before=earlier["pageInfo"]["startCursor"])
    assert sequences(first) == [1, 2]
    assert first["pageInfo"]["hasPreviousPage"] is False
    assert first["totalCount"] == 12


async def test_a_page_around_a_message_has_it_in_the_middle(api: Api) -> None:
    session = await stored(api)
    assert sequences(await page(api, session, around=6, first=5)) == [4, 5, 6, 7, 8]
    assert sequences(await page(api, session, around=1, first=5)) == [1, 2, 3, 4, 5]
    assert sequences(await page(api, session, around=99, first=5)) == [8, 9, 10, 11, 12]


async def test_a_default_page_has_fifty_messages(api: Api) -> None:
    session = await stored(api, 60)
    assert sequences(await page(api, session)) == list(range(1, 51))


async def test_an_empty_session_has_an_empty_page(api: Api) -> None:
    session = await api.store([])
    assert await page(api, session) == {
        "totalCount": 0,
        "pageInfo": {
            "hasNextPage": False,
            "hasPreviousPage": False,
            "startCursor": None,
            "endCursor": None,
        },
        "edges": [],
        "nodes": [],
    }


async def test_a_page_of_none_is_legal(api: Api) -> None:
    session = await stored(api)
    connection = await page(api, session, first=0)
    assert sequences(connection) == []
    assert connection["totalCount"] == 12


async def test_filters_select_and_count(api: Api) -> None:
    session = await api.store(
        [
            text_message("ask"),
            tool_message([1], name="Read", kind=ToolKind.READ),
            tool_message(
                ["xxxxxxxxxx"], name="Bash", kind=ToolKind.EXECUTE, status=ToolStatus.FAILED
            ),
            text_message("answer", MessageRole.ASSISTANT),
        ]
    )
    for chosen, expected in (
        ({"roles": ["USER", "ASSISTANT"]}, [1, 4]),
        ({"toolKinds": ["READ"]}, [2]),
        ({"toolNames": ["Bash", "Read"]}, [2, 3]),
        ({"toolStatus": ["FAILED"]}, [3]),
        ({"roles": ["TOOL"], "toolNames": ["Read"]}, [2]),
        ({"minContentSize": 10}, [3]),
        ({"roles": []}, []),
        ({"roles": None}, [1, 2, 3, 4]),
        ({}, [1, 2, 3, 4]),
    ):
        connection = await page(api, session, filter=chosen)
        assert sequences(connection) == expected, chosen
        assert connection["totalCount"] == len(expected)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"first": -1}, "first"),
        ({"last": -1}, "last"),
        ({"first": 5_000}, "first"),
        ({"last": 1_001}, "last"),
        ({"first": 1, "last": 1}, "last"),
        ({"after": "zzz"}, "after"),
        ({"before": ""}, "before"),
        ({"before": "ü"}, "before"),
        ({"around": 0}, "aroundSequence"),
        ({"around": 3, "last": 2}, "aroundSequence"),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_bad_page_arguments_are_named(
    api: Api, arguments: dict[str, Any], argument: str
) -> None:
    session = await stored(api)
    response = await api.run(MESSAGES, id=session.id, **arguments)
    (error,) = response["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "argument": argument}
    assert argument.removesuffix("Sequence") in error["message"]
    assert error["path"] == ["session", "messages"]


async def test_a_cursor_of_another_session_or_filter_is_refused(api: Api) -> None:
    session = await stored(api)
    other = await stored(api, key="other")
    cursor = (await page(api, session, first=2))["pageInfo"]["endCursor"]
    foreign = {"id": other.id, "after": cursor}
    filtered = {"id": session.id, "after": cursor, "filter": {"roles": ["USER"]}}
    for variables in (foreign, filtered):
        assert await api.errors(MESSAGES, **variables) == [
            (["session", "messages"], "BAD_USER_INPUT")
        ]


async def test_sessions_come_latest_first_and_page_both_ways(api: Api) -> None:
    for n in range(7):
        # Equal times in pairs: their order is settled by the id.
        await api.store(
            [], key=f"s{n}", title=f"T{n}", updated_at=f"2026-11-30T17:09:4{n // 2}.000Z"
        )
    met: list[str] = []
    after = None
    while True:
        connection = (await api.data(SESSIONS, first=3, after=after))["sessions"]
        met += [node["title"] for node in connection["nodes"]]
        if not connection["pageInfo"]["hasNextPage"]:
            break
        after = connection["pageInfo"]["endCursor"]
    assert met == ["T6", "T5", "T4", "T3", "T2", "T1", "T0"]
    backward = (await api.data(SESSIONS, last=3))["sessions"]
    assert [node["title"] for node in backward["nodes"]] == ["T2", "T1", "T0"]
    assert backward["totalCount"] == 7


async def test_sessions_are_ordered_by_what_is_asked(api: Api) -> None:
    await api.store([text_message()] * 1, key="a", title="one", content_size=5)
    await api.store([text_message(), text_message()], key="b", title="two", content_size=1)
    for field, expected in (("MESSAGE_COUNT", ["one", "two"]), ("CONTENT_SIZE", ["two", "one"])):
        for direction, titles in (("ASC", expected), ("DESC", expected[::-1])):
            order = {"field": field, "direction": direction}
            first = (await api.data(SESSIONS, order=order, first=1))["sessions"]
            cursor = first["pageInfo"]["endCursor"]
            second = (await api.data(SESSIONS, order=order, first=1, after=cursor))["sessions"]
            assert [n["title"] for n in first["nodes"] + second["nodes"]] == titles
    by_count = {"field": "MESSAGE_COUNT", "direction": "ASC"}
    cursor = (await api.data(SESSIONS, order=by_count, first=1))["sessions"]["pageInfo"][
        "endCursor"
    ]
    assert await api.errors(SESSIONS, after=cursor) == [(["sessions"], "BAD_USER_INPUT")]


async def test_sessions_are_filtered(api: Api) -> None:
    await api.store([], key="a", title="Fix 100% of it", agent="claude-code", status="active")
    await api.store(
        [], key="b", title="fix nothing", agent="codex", updated_at="2027-01-01T00:00:00.000Z"
    )
    await api.store([], key="c", title="child", parent_id="a", parent_tool_call_id="call")
    for chosen, expected in (
        ({}, {"a", "b"}),
        ({"includeChildren": True}, {"a", "b", "c"}),
        ({"status": ["ACTIVE"]}, {"a"}),
        ({"agent": "codex"}, {"b"}),
        ({"titleContains": "FIX"}, {"a", "b"}),
        ({"titleContains": "0%"}, {"a"}),
        ({"titleContains": "_"}, set()),
        ({"updatedAfter": "2026-12-31T23:59:59+00:00"}, {"b"}),
        ({"updatedAfter": "2027-01-01T00:59:59.999+01:00"}, {"b"}),
    ):
        connection = (await api.data(SESSIONS, filter=chosen))["sessions"]
        ids = {node["id"] for node in connection["nodes"]}
        assert ids == {encode("Session", "default", key) for key in expected}, chosen
        assert connection["totalCount"] == len(expected)


async def test_children_are_listed_oldest_first(api: Api) -> None:
    parent = await api.store([tool_message(tool_call_id="call")], key="parent")
    for n in (2, 1, 3):
        await api.store(
            [],
            key=f"child-{n}",
            title=f"C{n}",
            parent_id="parent",
            parent_tool_call_id="call",
            created_at=f"2026-11-30T17:09:0{n}.000Z",
        )
    document = """
    query ($id: ID!, $after: String) { session(id: $id) { children(first: 2, after: $after) {
      totalCount pageInfo { endCursor hasNextPage } nodes { title parent { id } parentToolCallId }
    } } }
    """
    first = (await api.data(document, id=parent.id))["session"]["children"]
    assert [node["title"] for node in first["nodes"]] == ["C1", "C2"]
    assert first["nodes"][0]["parent"] == {"id": parent.id}
    assert first["nodes"][0]["parentToolCallId"] == "call"
    assert first["totalCount"] == 3
    after = first["pageInfo"]["endCursor"]
    second = (await api.data(document, id=parent.id, after=after))["session"]["children"]
    assert [node["title"] for node in second["nodes"]] == ["C3"]


async def test_projects_are_listed_by_name_with_their_sessions(api: Api) -> None:
    await api.database.write(lambda connection: add_project(connection, "p-1", name="alpha"))
    await api.store([], key="mine", title="Mine", project="p-1")
    await api.store([], key="other", title="Other")
    data = await api.data(
        "{ projects { totalCount nodes { id name createdAt sessions { nodes { title } } } } }"
    )
    assert data["projects"]["totalCount"] == 2
    alpha, default = data["projects"]["nodes"]
    assert alpha == {
        "id": encode("Project", "p-1"),
        "name": "alpha",
        "createdAt": NOW,
        "sessions": {"nodes": [{"title": "Mine"}]},
    }
    assert default["name"] == "default"
    assert default["sessions"]["nodes"] == [{"title": "Other"}]


async def test_rows_are_budgeted_before_a_page_is_read(api: Api) -> None:
    session = await stored(api)
    limited = api.with_settings(max_rows=120)
    document = """
    query ($id: ID!) {
      a: session(id: $id) { messages(first: 60) { nodes { sequence } } }
      b: session(id: $id) { messages(first: 61) { nodes { sequence } } }
    }
    """
    response = await limited.run(document, id=session.id)
    (error,) = response["errors"]
    assert error["path"] in (["a", "messages"], ["b", "messages"])
    assert error["extensions"] == {"code": "TOO_MANY_ROWS", "maxRows": 120}
    assert sorted(value is None for value in response["data"].values()) == [False, True]


async def test_a_filter_lists_a_hundred_values_and_no_more(api: Api) -> None:
    session = await stored(api)
    allowed = {"toolNames": ["x"] * 100}
    assert sequences(await page(api, session, filter=allowed)) == []
    response = await api.run(MESSAGES, id=session.id, filter={"toolNames": ["x"] * 101})
    (error,) = response["errors"]
    assert error["extensions"] == {"code": "BAD_USER_INPUT", "argument": "filter"}
    assert "filter.toolNames" in error["message"]
    assert (await api.data(SESSIONS, filter={"titleContains": "x" * 1_000}))["sessions"][
        "nodes"
    ] == []
    assert await api.errors(SESSIONS, filter={"titleContains": "x" * 1_001}) == [
        (["sessions"], "BAD_USER_INPUT")
    ]
    assert await api.errors(SESSIONS, filter={"status": ["ACTIVE"] * 101}) == [
        (["sessions"], "BAD_USER_INPUT")
    ]


async def test_pages_of_none_and_counts_are_charged_too(api: Api) -> None:
    session = await stored(api)
    limited = api.with_settings(max_rows=3)
    document = """
    query ($id: ID!) { session(id: $id) {
      a: messages(first: 0) { totalCount } b: messages(first: 0) { totalCount } } }
    """
    assert [code for _, code in await limited.errors(document, id=session.id)] == ["TOO_MANY_ROWS"]
