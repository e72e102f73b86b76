"""The guard's eight worked examples, with budgets of 4,096 and 65,536 bytes."""

from typing import Any

from tests.builders import tool_message
from tests.schema.conftest import Api, StoredSession, content_of
from tests.statements import statements

PAGE = """
query ($id: ID!, $compact: Boolean) {
  session(id: $id) {
    messages(first: 50, compact: $compact) {
      nodes { toolMetadata { contentSize content contentOmitted { reason size limit } } }
    }
  }
}
"""
MIXED = [390, 390, 390, 390, 9_030, 880, 880]


async def stored(api: Api, sizes: list[int], key: str = "s") -> StoredSession:
    return await api.store(
        [tool_message(content_of(size, mark=f"{key}{n}")) for n, size in enumerate(sizes)],
        key=key,
    )


def tools(response: dict[str, Any]) -> list[dict[str, Any]]:
    nodes = response["data"]["session"]["messages"]["nodes"]
    return [node["toolMetadata"] for node in nodes]


def budget(requested: int, delivered: int, omitted: int) -> dict[str, int]:
    return {
        "compactBudgetBytes": 4_096,
        "contentBudgetBytes": 65_536,
        "requestedBytes": requested,
        "deliveredBytes": delivered,
        "omittedCount": omitted,
    }


async def test_a_page_of_sizes_only_is_never_limited_and_has_no_budget(api: Api) -> None:
    session = await stored(api, [200_025, 200_025, 390])
    response = await api.run(
        "query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata { contentSize "
        "contentHash contentPreview contentState } } } } }",
        id=session.id,
    )
    assert [tool["contentSize"] for tool in tools(response)] == [200_025, 200_025, 390]
    assert response["extensions"] == {}


async def test_four_small_contents_are_all_delivered(api: Api) -> None:
    session = await stored(api, [390] * 4)
    response = await api.run(PAGE, id=session.id)
    assert [tool["content"] for tool in tools(response)] == [
        content_of(390, mark=f"s{n}") for n in range(4)
    ]
    assert response["extensions"]["contentBudget"] == budget(1_560, 1_560, 0)
    assert "errors" not in response


async def test_one_content_over_the_compact_budget_is_withheld_and_the_others_delivered(
    api: Api,
) -> None:
    session = await stored(api, MIXED)
    response = await api.run(PAGE, id=session.id)
    shown = tools(response)
    assert [tool["content"] is None for tool in shown] == [n == 4 for n in range(7)]
    assert shown[4]["contentSize"] == 9_030
    assert [tool["contentOmitted"] for tool in shown] == [
        {"reason": "COMPACT_MODE", "size": 9_030, "limit": 4_096} if n == 4 else None
        for n in range(7)
    ]
    assert response["extensions"]["contentBudget"] == budget(sum(MIXED), sum(MIXED) - 9_030, 1)
    assert "errors" not in response


async def test_with_compact_false_all_are_delivered(api: Api) -> None:
    session = await stored(api, MIXED)
    response = await api.run(PAGE, id=session.id, compact=False)
    assert [tool["content"] for tool in tools(response)] == [
        content_of(size, mark=f"s{n}") for n, size in enumerate(MIXED)
    ]
    assert "errors" not in response


async def test_over_the_hard_budget_compact_false_gets_one_error_and_the_others(api: Api) -> None:
    session = await stored(api, [390, 200_025, 880])
    response = await api.run(PAGE, id=session.id, compact=False)
    assert [tool["content"] is None for tool in tools(response)] == [False, True, False]
    (error,) = response["errors"]
    assert error["path"] == ["session", "messages", "nodes", 1, "toolMetadata", "content"]
    assert error["extensions"] == {
        "code": "CONTENT_BUDGET_EXCEEDED",
        "contentSize": 200_025,
        "budgetBytes": 65_536,
        "usedBytes": 390,
    }


async def test_one_message_by_its_id_is_no_bulk(api: Api) -> None:
    session = await stored(api, [9_030])
    data = await api.data(
        "query ($id: ID!) { message(id: $id) { toolMetadata {"
        " content contentOmitted { size } } } }",
        id=session.message(1),
    )
    assert data["message"]["toolMetadata"] == {
        "content": content_of(9_030, mark="s0"),
        "contentOmitted": None,
    }


async def test_one_message_over_the_hard_budget_is_withheld_and_a_slice_of_it_is_not(
    api: Api,
) -> None:
    session = await stored(api, [200_025])
    response = await api.run(
        "query ($id: ID!) { message(id: $id) { toolMetadata { content contentOmitted { reason size "
        "limit } contentSlice(length: 60000) { length totalSize nextOffset } } } }",
        id=session.message(1),
    )
    assert response["data"]["message"]["toolMetadata"] == {
        "content": None,
        "contentOmitted": {"reason": "BUDGET_EXCEEDED", "size": 200_025, "limit": 65_536},
        "contentSlice": {"length": 60_000, "totalSize": 200_025, "nextOffset": 60_000},
    }
    assert "errors" not in response


async def test_two_aliases_and_a_fragment_share_one_ledger_and_one_read(api: Api) -> None:
    session = await stored(api, [390] * 4)
    document = """
    query ($id: ID!) {
      a: session(id: $id) { messages { ...F } }
      b: session(id: $id) { messages { ...F } }
    }
    fragment F on MessageConnection { nodes { toolMetadata { content } } }
    """
    with statements(api.database) as seen:
        response = await api.run(document, id=session.id)
    assert response["extensions"]["contentBudget"] == budget(3_120, 3_120, 0)
    assert len([sql for sql in seen if "FROM content_chunk" in sql]) == 1
    assert response["data"]["a"] == response["data"]["b"]
