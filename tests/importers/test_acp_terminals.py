import base64

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
    update,
)
from toolfold.transcript import ContentState, Json, ToolKind, ToolStatus

RUN = {"command": "make test", "cwd": "/work"}


def terminal(terminal_id: str = "t1", **values: Json) -> Json:
    """Return a terminal block."""
    return {"type": "terminal", "terminalId": terminal_id, **values}


def delta(data: str, terminal_id: str = "t1", key: str = "terminal_output_delta") -> Json:
    """Return the `_meta` by which Codex tells a piece of output."""
    return {key: {"data": data, "terminal_id": terminal_id}}


def test_pieces_of_output_are_joined_in_the_recorded_block() -> None:
    store = Store().read(
        [
            call("c1", kind="execute", content=[terminal()], rawInput=RUN, status="in_progress"),
            patch("c1", _meta=delta("1\n")),
            patch("c1", _meta=delta("2\n")),
            patch(
                "c1",
                status="failed",
                _meta=delta("oops\n")
                | {"terminal_exit": {"exit_code": 3, "signal": None, "terminal_id": "t1"}},
            ),
        ]
    )
    assert store.calls()["c1"].content == [
        terminal(command="make test", output="1\n2\noops\n", exitCode=3)
    ]
    assert store.calls()["c1"].status is ToolStatus.FAILED


def test_a_read_whose_output_comes_in_pieces_gets_a_block_for_it() -> None:
    store = Store().read(
        [
            call("c1", kind="read", title="Read file 'a.py'"),
            patch("c1", _meta=delta("x = 1\n", "c1")),
            patch("c1", status="completed", rawOutput={"exit_code": 0}),
        ]
    )
    read = store.calls()["c1"]
    assert read.content == [terminal("c1", output="x = 1\n", exitCode=0)]
    assert read.raw_output == {"exit_code": 0}


def test_the_output_of_a_command_that_still_runs_is_told_at_the_end() -> None:
    begun = [
        call("c1", content=[terminal()]),
        patch("c1", _meta=delta("half", key="terminal_output")),
    ]
    store = Store().read(begun)
    assert store.calls()["c1"].content == [terminal(output="half")]
    assert store.entries[-1].line is None
    ended = Store().read([*opened(), prompt("Go."), *begun, answered()])
    assert ended.calls()["c1"].content == [terminal(output="half")]
    assert ended.calls()["c1"].status is ToolStatus.FAILED


def test_a_command_may_be_a_list_of_words_and_a_piece_may_name_no_terminal() -> None:
    store = Store().read(
        [
            call("c1", rawInput={"command": ["cat", "a b"]}),
            patch("c1", status="completed", _meta={"terminal_output_delta": {"data": "x"}}),
            call("c2", rawInput={"command": ["cat", 3]}),
            patch("c2", status="completed", _meta={"terminal_output_delta": {"data": "y"}}),
        ]
    )
    assert [one.content for one in store.calls().values()] == [
        [terminal("c1", output="x", command="cat 'a b'")],
        [terminal("c2", output="y")],
    ]


def test_terminals_of_calls_that_run_at_once_are_told_apart() -> None:
    store = Store().read(
        [
            call("c1", content=[terminal("t1")]),
            call("c2", content=[terminal("t2")]),
            patch("c1", _meta=delta("one ", "t1")),
            patch("c2", _meta=delta("two ", "t2")),
            patch("c2", status="completed", _meta=delta("2", "t2")),
            patch("c1", status="completed", _meta=delta("1", "t1")),
        ]
    )
    assert [one.content for one in store.calls().values()] == [
        [terminal("t1", output="one 1")],
        [terminal("t2", output="two 2")],
    ]


def test_a_late_update_does_not_take_the_output_away() -> None:
    store = Store().read(
        [
            call("c1", content=[terminal()]),
            patch("c1", status="completed", _meta=delta("done")),
            patch("c1", content=[terminal()], title="make"),
            patch("c1", _meta=delta("too late")),
        ]
    )
    assert store.calls()["c1"].content == [terminal(output="done")]
    assert store.calls()["c1"].title == "make"
    assert store.reasons() == ["news of a terminal whose tool call has ended"]
    assert b"too late" in store.records[0].raw


def client_terminal(request_id: int, output: str, *, truncated: bool = False) -> list[Json]:
    """Return the requests of an agent that runs a command in its client's terminal."""
    about = {"sessionId": S, "terminalId": "t1"}
    result = {"output": output, "truncated": truncated, "exitStatus": {"exitCode": 1}}
    return [
        request("terminal/create", request_id, sessionId=S, command="ls", args=["-l", "a b"]),
        response({"terminalId": "t1"}, request_id),
        request("terminal/output", request_id + 1, **about),
        response({"output": "half", "truncated": False}, request_id + 1),
        request("terminal/wait_for_exit", request_id + 2, **about),
        response({"exitCode": 1, "signal": None}, request_id + 2),
        request("terminal/output", request_id + 3, **about),
        response(result, request_id + 3),
        request("terminal/release", request_id + 4, **about),
        response(None, request_id + 4),
    ]


def test_a_client_s_terminal_fills_the_block_that_shows_it() -> None:
    create, created, *rest = client_terminal(0, "whole")
    store = Store().read(
        [
            *opened(),
            prompt("Go.", request_id=1),
            create,
            created,
            call("c1", title="ls", content=[text_block("Listing"), terminal()]),
            *rest,
            patch("c1", status="completed"),
            answered(),
        ]
    )
    assert store.texts() == [("user", "Go."), ("tool", "ls")]
    assert store.calls()["c1"].content == [
        text_block("Listing"),
        terminal(command="ls -l 'a b'", output="whole", exitCode=1),
    ]
    assert store.records == []


def test_output_that_the_client_had_to_drop_was_cut() -> None:
    store = Store().read(
        [
            call("c1", content=[terminal()]),
            *client_terminal(0, "the end", truncated=True),
            patch("c1", status="completed"),
        ]
    )
    assert store.calls()["c1"].content_state is ContentState.CUT_BY_AGENT


def test_a_terminal_that_no_call_shows_becomes_a_call_of_its_own() -> None:
    store = Store().read(
        [*opened(), prompt("Go.", request_id=9), *client_terminal(0, "whole"), answered(9)]
    )
    assert store.texts() == [("user", "Go."), ("tool", "ls -l 'a b'")]
    (loose,) = store.calls().values()
    assert (loose.kind, loose.status) == (ToolKind.EXECUTE, ToolStatus.FAILED)
    assert loose.content == [terminal(command="ls -l 'a b'", output="whole", exitCode=1)]


def test_version_2_tells_terminals_in_bytes() -> None:
    def encoded(data: bytes) -> str:
        return base64.b64encode(data).decode()

    snowman = "☃".encode()
    store = Store().read(
        [
            patch("c1", title="make", content=[terminal()]),
            update("terminal_update", terminalId="t1", command="make", cwd="/work"),
            update("terminal_output_chunk", terminalId="t1", data=encoded(b"dropped")),
            update(
                "terminal_update", terminalId="t1", output={"data": encoded(b"a" + snowman[:1])}
            ),
            update("terminal_output_chunk", terminalId="t1", data=encoded(snowman[1:] + b"\xff")),
            update("terminal_output_chunk", terminalId="t1", data="not base64!"),
            update("terminal_update", terminalId="t1", exitStatus={"signal": "SIGTERM"}),
            patch("c1", status="completed"),
        ]
    )
    assert store.calls()["c1"].content == [
        terminal(command="make", output="a☃\ufffd", signal="SIGTERM")
    ]
    assert store.reasons() == ["not base64"]
