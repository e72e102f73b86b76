"""Histories that are told again: in one log, and in a second one."""

from pathlib import Path

import pytest

from tests.builders import text_block
from tests.importers.acp_log import (
    S,
    Store,
    answered,
    call,
    opened,
    patch,
    prompt,
    request,
    response,
    said,
    update,
)
from toolfold.transcript import Json, Message, ToolCallUpdate, ToolStatus

TERMINAL = {"type": "terminal", "terminalId": "c1"}
LIVE: list[Json] = [
    *opened(),
    prompt("Fix the adder.", {"type": "resource_link", "uri": "file:///a.py", "name": "a.py"}),
    said("Let me think.", "m1", role="agent_thought"),
    said("I'll look.", "m1"),
    call("c1", title="Terminal", status="pending", content=[TERMINAL]),
    patch("c1", _meta={"terminal_output_delta": {"data": "exit=2", "terminal_id": "c1"}}),
    patch("c1", title="make", status="completed"),
    said("Fixed."),
    answered(usage={"inputTokens": 1, "outputTokens": 2}),
    prompt("Thanks."),
    said("You are "),
    said("welcome."),
    answered(),
]
HISTORY: list[Json] = [
    said("Fix the ", "u1", role="user_message"),
    said("adder.", "u1", role="user_message"),
    said("Let me think.", "m1", role="agent_thought"),
    said("I'll look.", "m1"),
    call("c1", title="Terminal", status="pending", content=[TERMINAL]),
    patch("c1", title="make", status="completed", content=[TERMINAL]),
    said("Fixed."),
    said("Thanks.", "u2", role="user_message"),
    said("You are welcome."),
]
TEXTS = [
    ("user", "Fix the adder.\n[a.py](file:///a.py)"),
    ("thinking", "Let me think."),
    ("assistant", "I'll look."),
    ("tool", "make"),
    ("assistant", "Fixed."),
    ("user", "Thanks."),
    ("assistant", "You are welcome."),
]
MORE = [prompt("Once more.", request_id=8), said("Sure.", "m9"), answered(8)]
MORE_TEXTS = [("user", "Once more."), ("assistant", "Sure.")]


def loaded(*history: Json) -> list[Json]:
    """Return a load of the session with what is told in it."""
    return [
        request("session/load", 7, sessionId=S, cwd="/work", mcpServers=[]),
        *history,
        response({"modes": None}, 7),
    ]


def test_a_replay_in_the_log_that_has_the_session_is_skipped() -> None:
    store = Store().read([*LIVE, *loaded(*HISTORY), *MORE])
    assert store.texts() == TEXTS + MORE_TEXTS
    assert store.calls()["c1"].content == [TERMINAL | {"output": "exit=2"}]
    assert store.calls()["c1"].status is ToolStatus.COMPLETED
    # Nothing is told of lines 15 to 24.
    assert {entry.line for entry in store.entries} & set(range(15, 25)) == set()


def test_a_second_replay_is_skipped_where_the_first_began_the_log() -> None:
    store = Store().read([*loaded(*HISTORY), *MORE, *loaded(*HISTORY), *loaded()])
    assert store.texts()[1:] == TEXTS[1:] + MORE_TEXTS


def test_a_history_in_a_log_of_its_own_is_told() -> None:
    store = Store().read([*loaded(*HISTORY), *MORE])
    assert store.texts() == [("user", "Fix the adder."), *TEXTS[1:], *MORE_TEXTS]
    assert store.calls()["c1"].status is ToolStatus.COMPLETED
    assert store.sessions[S].cwd == "/work"
    told = [one.value.client_id for one in store.entries if isinstance(one.value, Message)]
    assert len(told) == len(set(told)) == 9


def test_a_history_adds_nothing_to_a_store_that_has_it() -> None:
    store = Store().read(LIVE, Path("/logs/first"))
    before = list(store.messages[S])
    store.read([*loaded(*HISTORY), *MORE], Path("/logs/second"))
    assert store.messages[S][: len(before)] == before
    assert store.texts() == TEXTS + MORE_TEXTS


def test_the_same_holds_when_the_history_comes_first() -> None:
    store = Store().read([*loaded(*HISTORY), *MORE], Path("/logs/second"))
    before = len(store.messages[S])
    store.read(LIVE, Path("/logs/first"))
    assert len(store.messages[S]) == before
    assert store.calls()["c1"].content == [TERMINAL | {"output": "exit=2"}]


def test_a_call_in_a_history_is_one_message_in_its_last_state() -> None:
    store = Store().read(loaded(*HISTORY))
    assert not [one for one in store.entries if isinstance(one.value, ToolCallUpdate)]


def test_a_history_keeps_the_order_of_calls_that_ran_at_once() -> None:
    history = [
        said("Go.", role="user_message"),
        call("c1", title="one"),
        call("c2", title="two"),
        patch("c2", status="completed", content=[text_block("2")]),
        said("Two is done."),
        patch("c1", status="completed", content=[text_block("1")]),
        patch("c2", title="two, renamed"),
    ]
    store = Store().read(loaded(*history))
    assert store.texts() == [
        ("user", "Go."),
        ("tool", "one"),
        ("tool", "two, renamed"),
        ("assistant", "Two is done."),
    ]
    assert [one.content for one in store.calls().values()] == [[text_block("1")], [text_block("2")]]


def test_a_call_without_a_result_in_a_history_has_failed() -> None:
    store = Store().read(loaded(said("Go.", role="user_message"), call("c1", status="pending")))
    assert store.calls()["c1"].status is ToolStatus.FAILED


def test_a_load_and_a_prompt_that_are_never_answered_stop_nothing() -> None:
    load = loaded(*HISTORY)[:-1]
    store = Store().read([*load, prompt("More."), said("Yes.")])
    assert store.texts()[1:] == [*TEXTS[1:], ("user", "More."), ("assistant", "Yes.")]
    assert Store().read(load).texts()[1:] == TEXTS[1:]


@pytest.mark.parametrize("end", [[response({}, 7)], []], ids=["answered", "never answered"])
def test_after_a_history_calls_are_told_as_they_come(end: list[Json]) -> None:
    live = [prompt("Go."), call("c9", title="Read"), patch("c9", title="Read a.py")]
    log = [*loaded(*HISTORY)[:-1], *end, *live, patch("c9", status="completed")]
    told = [
        (entry.line, type(entry.value))
        for entry in Store().read(log).entries
        if getattr(entry.value, "client_id", "") == "tool:c9"
        or isinstance(entry.value, ToolCallUpdate)
    ]
    assert told == [(len(log) - 2, Message), (len(log), ToolCallUpdate)]


def test_a_history_s_messages_have_not_the_time_of_the_load() -> None:
    store = Store().read(
        [{"ts": "2026-11-30T17:00:00Z", "msg": message} for message in loaded(*HISTORY)]
    )
    assert {message.created_at for message in store.messages[S]} == {None}
    assert store.sessions[S].created_at is None


def test_a_resumed_session_adds_to_what_other_logs_tell() -> None:
    resume = request("session/resume", 7, sessionId=S, cwd="/work")
    store = Store().read(LIVE, Path("/logs/first"))
    again = [resume, response({}, 7), prompt("Fix the adder."), said("Again?"), answered()]
    store.read(again, Path("/logs/second")).read(again, Path("/logs/third"))
    again_texts = [("user", "Fix the adder."), ("assistant", "Again?")]
    assert store.texts() == TEXTS + again_texts * 2
    # The same log adds nothing.
    store.read(again, Path("/logs/third"))
    assert store.texts() == TEXTS + again_texts * 2


def test_a_session_that_was_resumed_and_then_loaded_has_its_history() -> None:
    resume = request("session/resume", 6, sessionId=S, cwd="/work")
    store = Store().read([resume, response({}, 6), *MORE[:2], *loaded(*HISTORY)])
    assert store.texts()[:2] == MORE_TEXTS
    assert store.texts()[3:] == TEXTS[1:]


def test_version_2_asks_for_the_history_as_it_resumes() -> None:
    resume = request("session/resume", 7, sessionId=S, cwd="/w", replayFrom={"type": "start"})
    history = [
        update("user_message", messageId="u1", content=[{"type": "text", "text": "Hi."}]),
        update("agent_message", messageId="m1", content=[{"type": "text", "text": "Hello."}]),
        response({}, 7),
    ]
    store = Store().read([resume, *history, resume, *history])
    assert store.texts() == [("user", "Hi."), ("assistant", "Hello.")]
