"""What Claude's adapter adds to ACP in `_meta.claudeCode`, apart from sub-agents."""

from tests.builders import text_block
from tests.importers.acp_log import Store, call, patch
from toolfold.transcript import ContentState, Json


def test_the_tool_s_name_is_the_agent_s_own() -> None:
    store = Store().read(
        [
            call("c1", name="exec_command"),
            call("c2", _meta={"claudeCode": {"toolName": "Bash"}}),
            call("c3"),
        ]
    )
    assert [one.name for one in store.calls().values()] == ["exec_command", "Bash", None]


def claude_result(call_id: str, tool_response: Json, **values: Json) -> list[Json]:
    """Return the updates with which Claude's adapter tells a result."""
    meta = {"claudeCode": {"toolName": "Bash", "toolResponse": tool_response}}
    return [patch(call_id, _meta=meta), patch(call_id, status="completed", **values)]


def test_claude_s_own_record_is_the_raw_output_only_where_there_is_none() -> None:
    record = {"stdout": "a", "stderr": ""}
    store = Store().read(
        [
            call("c1"),
            *claude_result("c1", record, rawOutput="a", content=[text_block("```\na\n```")]),
            call("c2"),
            *claude_result("c2", record),
            call("c3"),
            patch("c3", status="completed"),
            patch("c3", _meta={"claudeCode": {"toolResponse": record}}),
        ]
    )
    assert [one.raw_output for one in store.calls().values()] == ["a", record, record]
    # A fence is the adapter's, and stays as recorded.
    assert store.calls()["c1"].content == [text_block("```\na\n```")]


def test_an_output_that_claude_put_into_a_file_was_cut_by_the_agent() -> None:
    stub = "<persisted-output>\nOutput too large (402.6KB). Full output saved to: /x.txt\n"
    record = {"stdout": "much more than the preview", "persistedOutputPath": "/x.txt"}
    store = Store().read(
        [
            call("c1"),
            *claude_result(
                "c1", record, rawOutput=stub, content=[text_block(f"```console\n{stub}```")]
            ),
            call("c2"),
            patch("c2", status="completed", content=[text_block(f"cat notes:\n{stub}")]),
        ]
    )
    cut, whole = store.calls().values()
    assert cut.content == [text_block(f"```console\n{stub}```")]
    assert cut.content_state is ContentState.CUT_BY_AGENT
    # The stub stands in the content; Claude's record has more of the output.
    assert cut.raw_output == record
    assert whole.content_state is None
