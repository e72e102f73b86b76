import base64

from tests.importers.acp_log import (
    S,
    Store,
    answered,
    call,
    opened,
    patch,
    prompt,
    said,
    text,
    update,
)
from toolfold.transcript import Attachment, Message, MessageRole

PNG = b"\x89PNG\r\n\x1a\n not really"
IMAGE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}


def test_chunks_of_one_message_id_are_one_message() -> None:
    store = Store().read([said("One ", "m1"), said("two.", "m1"), said("Three.", "m2")])
    assert store.messages[S] == [
        Message("assistant:m1", MessageRole.ASSISTANT, "One two."),
        Message("assistant:m2", MessageRole.ASSISTANT, "Three."),
    ]


def test_chunks_without_an_id_are_one_message_while_nothing_comes_between() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            said("Think ", role="agent_thought"),
            update("usage_update", used=1, size=2),
            said("hard.", role="agent_thought"),
            said("One "),
            update("session_info_update", title="A title"),
            said("two."),
            call("c1", title="Read"),
            said("While it reads."),
            patch("c1", rawInput={"path": "a"}),
            said(" Still."),
            patch("c1", status="completed"),
            said("After."),
            answered(),
            prompt("More."),
            said("Yes."),
        ]
    )
    assert store.texts() == [
        ("user", "Go."),
        ("thinking", "Think hard."),
        ("assistant", "One two."),
        ("tool", "Read"),
        ("assistant", "While it reads. Still."),
        ("assistant", "After."),
        ("user", "More."),
        ("assistant", "Yes."),
    ]


def test_a_chunk_with_an_id_does_not_go_on_with_one_that_has_none() -> None:
    store = Store().read([said("Warning!"), said("Hello ", "m1"), said("you.", "m1"), said("Bye.")])
    assert store.texts() == [
        ("assistant", "Warning!"),
        ("assistant", "Hello you."),
        ("assistant", "Bye."),
    ]


def test_messages_that_interleave_are_told_apart_by_id() -> None:
    store = Store().read([said("a1 ", "a"), said("b1 ", "b"), said("a2", "a"), said("b2", "b")])
    assert store.texts() == [("assistant", "a1 a2"), ("assistant", "b1 b2")]


def test_a_thought_and_a_text_may_have_one_id() -> None:
    store = Store().read([said("Hm.", "m1", role="agent_thought"), said("", "m1"), said("A", "m1")])
    assert [message.client_id for message in store.messages[S]] == ["thinking:m1", "assistant:m1"]


def test_a_message_that_goes_on_after_a_tool_call_is_a_second_message() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            said("Before.", "m1"),
            call("c1", title="Read", status="completed"),
            said("After.", "m1"),
            prompt("Wait!", request_id=2),
            said("Interrupted.", "m1"),
        ]
    )
    assert store.texts() == [
        ("user", "Go."),
        ("assistant", "Before."),
        ("tool", "Read"),
        ("assistant", "After."),
        ("user", "Wait!"),
        ("assistant", "Interrupted."),
    ]


def test_an_agent_s_image_is_an_attachment_of_its_message() -> None:
    store = Store().read(
        [said("Here:", "m1"), update("agent_message_chunk", content=IMAGE, messageId="m1")]
    )
    (message,) = store.messages[S]
    assert (message.content, message.attachments) == ("Here:", (Attachment(PNG, "image/png"),))


def test_usage_belongs_to_the_turn_s_last_message() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            said("Reading."),
            call("c1", status="completed"),
            answered(
                usage={
                    "inputTokens": 10,
                    "outputTokens": 20,
                    "cachedReadTokens": 30,
                    "cachedWriteTokens": 40,
                    "totalTokens": 100,
                }
            ),
            prompt("More."),
            said("Yes."),
            answered(_meta={"quota": {"token_count": {"input_tokens": 5, "output_tokens": 6}}}),
            prompt("And?"),
            answered(),
        ]
    )
    usages = [
        (one.usage.input_tokens, one.usage.output_tokens, one.usage.cache_read_tokens)
        if one.usage
        else None
        for one in store.messages[S]
    ]
    assert usages == [None, None, (10, 20, 30), None, (5, 6, 0), None]


def test_of_several_plans_in_a_row_the_last_is_told_and_one_that_is_the_same_is_not() -> None:
    first = [{"content": "Fix adder", "status": "pending", "priority": "medium"}]
    both = [
        {"content": "Fix adder", "status": "in_progress", "priority": "high"},
        {"content": "Run tests", "status": "pending", "priority": "medium"},
    ]
    done = [entry | {"status": "completed"} for entry in both]
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            update("plan", entries=first),
            update("usage_update", used=1, size=2),
            update("plan", entries=both),
            said("Working."),
            update("plan", entries=both),
            call("c1", title="Test", status="completed"),
            update("plan", entries=done),
            answered(),
        ]
    )
    assert store.texts() == [
        ("user", "Go."),
        ("plan", "[in_progress] Fix adder (high priority)\n[pending] Run tests"),
        ("assistant", "Working."),
        ("tool", "Test"),
        ("plan", "[completed] Fix adder (high priority)\n[completed] Run tests"),
    ]


def test_what_the_agent_program_says_itself_has_origin_system() -> None:
    store = Store().read(
        [
            said("[MODE_UPDATE] yolo"),
            said("Hello."),
            update("notice", severity="warning", title="Rate limited", description="Wait a bit."),
        ]
    )
    mode, hello, notice = store.messages[S]
    assert (mode.role, mode.origin) == (MessageRole.ASSISTANT, "system")
    assert (hello.content, hello.origin) == ("Hello.", None)
    assert (notice.role, notice.content) == (MessageRole.SYSTEM, "Rate limited\nWait a bit.")


def test_a_compaction_s_summary_is_a_system_message() -> None:
    store = Store().read(
        [
            update("compaction_update", compactionId="k1", status="in_progress"),
            update("compaction_summary_chunk", compactionId="k1", content=text("We fixed ")),
            update("compaction_summary_chunk", compactionId="k1", content=text("it.")),
            update("compaction_update", compactionId="k1", status="completed"),
            said("On we go."),
            update(
                "compaction_update", compactionId="k2", status="completed", summary=[text("B.")]
            ),
        ]
    )
    assert store.texts() == [
        ("system", "We fixed it."),
        ("assistant", "On we go."),
        ("system", "B."),
    ]
    assert store.records == []


def test_a_chunk_that_is_no_text_block_is_shown_as_json() -> None:
    store = Store().read([update("agent_message_chunk", content={"type": "text", "text": 3})])
    assert store.texts() == [("assistant", '{"type":"text","text":3}')]


def test_a_message_that_is_given_whole_again_keeps_its_client_id() -> None:
    whole = update("agent_message", messageId="m1", content=[text("One, two.")])
    store = Store().read([said("One, ", "m1"), call("c1", status="completed"), whole])
    told = [one.value for one in store.entries if isinstance(one.value, Message)]
    assert [(one.client_id, one.content) for one in told] == [
        ("assistant:m1", "One, "),
        ("tool:c1", ""),
        ("assistant:m1", "One, two."),
    ]


def test_version_2_gives_whole_messages_by_id() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go.", request_id=5),
            {"jsonrpc": "2.0", "id": 5, "result": {"messageId": "u1"}},
            update("state_update", state="running"),
            said("Half a thou", "t1", role="agent_thought"),
            update("agent_thought", messageId="t1", content=[text("A whole thought.")]),
            update("agent_message", messageId="m1", content=[text("An "), IMAGE]),
            said("answer.", "m1"),
            update("agent_message", messageId="m2", content=[text("Dropped.")]),
            update("agent_message", messageId="m2", content=None),
            update("plan_update", plan={"type": "items", "planId": "p", "entries": []}),
            update("state_update", state="idle", stopReason="end_turn"),
            # The turn is over, so this is no echo.
            update("user_message", messageId="u2", content=[text("Go.")]),
            update("plan_update", plan={"type": "hologram", "planId": "p"}),
        ]
    )
    assert store.texts() == [
        ("user", "Go."),
        ("thinking", "A whole thought."),
        ("assistant", "An answer."),
        ("user", "Go."),
    ]
    assert store.messages[S][2].attachments == (Attachment(PNG, "image/png"),)
    assert store.reasons() == ["a plan without entries"]
