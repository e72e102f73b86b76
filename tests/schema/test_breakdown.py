"""`Session.contentBreakdown`: what is heavy in a session, told without reading a content."""

from typing import Any

import pytest

from tests.builders import text_message, tool_message
from tests.schema.conftest import Api, content_of
from tests.schema.test_laziness import on_heavy_tables
from tests.statements import statements
from toolfold.transcript import ToolKind

BREAKDOWN = """
query ($id: ID!, $first: Int! = 10) {
  session(id: $id) {
    contentBreakdown(first: $first) {
      toolCount
      tools { name kind callCount contentSize rawInputSize rawOutputSize }
      largestOutputs {
        messageId sequence toolCallId name title kind contentSize rawOutputSize
      }
    }
  }
}
"""


async def breakdown(api: Api, **variables: Any) -> Any:
    data = await api.data(BREAKDOWN, **variables)
    return data["session"]["contentBreakdown"]


async def test_what_is_heavy_is_told_by_one_statement_that_reads_no_content(api: Api) -> None:
    session = await api.store(
        [
            text_message("x" * 20_000),
            # More than both of the guard's budgets.
            tool_message(
                content_of(100_000),
                name="Bash",
                title="Run it",
                kind=ToolKind.EXECUTE,
                tool_call_id="call-2",
                raw_input={"n": 1},
                raw_output=[1],
            ),
            tool_message(content_of(300), name="Read", kind=ToolKind.READ, tool_call_id="call-3"),
            tool_message(name="Read", kind=ToolKind.READ),
        ]
    )
    with statements(api.database) as seen:
        response = await api.run(BREAKDOWN, id=session.id)
    assert response == {
        "data": {
            "session": {
                "contentBreakdown": {
                    "toolCount": 2,
                    "tools": [
                        {
                            "name": "Bash",
                            "kind": "EXECUTE",
                            "callCount": 1,
                            "contentSize": 100_000,
                            "rawInputSize": 7,
                            "rawOutputSize": 3,
                        },
                        {
                            "name": "Read",
                            "kind": "READ",
                            "callCount": 2,
                            "contentSize": 300,
                            "rawInputSize": 0,
                            "rawOutputSize": 0,
                        },
                    ],
                    "largestOutputs": [
                        {
                            "messageId": session.message(2),
                            "sequence": 2,
                            "toolCallId": "call-2",
                            "name": "Bash",
                            "title": "Run it",
                            "kind": "EXECUTE",
                            "contentSize": 100_000,
                            "rawOutputSize": 3,
                        },
                        {
                            "messageId": session.message(3),
                            "sequence": 3,
                            "toolCallId": "call-3",
                            "name": "Read",
                            "title": None,
                            "kind": "READ",
                            "contentSize": 300,
                            "rawOutputSize": 0,
                        },
                    ],
                }
            }
        },
        "extensions": {},
    }
    assert on_heavy_tables(seen) == []
    assert len([sql for sql in seen if "FROM message" in sql]) == 1


async def test_first_bounds_both_lists(api: Api) -> None:
    calls = [tool_message(content_of(200 + n), name=f"tool-{n}") for n in range(5)]
    session = await api.store(calls)
    found = await breakdown(api, id=session.id, first=2)
    assert [tool["name"] for tool in found["tools"]] == ["tool-4", "tool-3"]
    assert [output["sequence"] for output in found["largestOutputs"]] == [5, 4]
    assert found["toolCount"] == 5


@pytest.mark.parametrize("first", [-1, 0, 101])
async def test_a_list_of_no_or_too_many_items_is_refused(api: Api, first: int) -> None:
    session = await api.store([])
    assert await api.errors(BREAKDOWN, id=session.id, first=first) == [
        (["session", "contentBreakdown"], "BAD_USER_INPUT")
    ]


async def test_both_lists_are_charged_as_rows_and_a_refusal_spares_the_session(api: Api) -> None:
    session = await api.store([tool_message(content_of(200))])
    small = api.with_settings(max_rows=20)
    assert (await breakdown(small, id=session.id))["toolCount"] == 1
    document = """
    query ($id: ID!) {
      session(id: $id) { title a: contentBreakdown { toolCount } b: contentBreakdown { toolCount } }
    }
    """
    response = await small.run(document, id=session.id)
    assert response["data"]["session"] == {"title": None, "a": {"toolCount": 1}, "b": None}
    assert [(e["path"], e["extensions"]["code"]) for e in response["errors"]] == [
        (["session", "b"], "TOO_MANY_ROWS")
    ]


async def test_a_session_without_calls_has_nothing_heavy(api: Api) -> None:
    session = await api.store([text_message("Hello.")])
    assert await breakdown(api, id=session.id) == {
        "toolCount": 0,
        "tools": [],
        "largestOutputs": [],
    }
