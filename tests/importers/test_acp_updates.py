"""One session's updates without a log, as whoever is sent notifications has them."""

import json
from pathlib import Path

import pytest

from tests.importers.acp_log import Store
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.turn import Moment
from toolfold.importers.acp.updates import SessionUpdates
from toolfold.transcript import Json, Message, MessageUsage, Session, ToolCallUpdate, Usage, Value

LOG = Path(__file__).parent / "data" / "acp_claude.ndjson"
SESSION = "b6b54d13-5459-493d-8663-d2e70d52a1f1"
USAGES = {
    2: Usage(13200, 1080, 30000, 1800),
    3: Usage(33600, 1260, 35000, 2100),
    4: Usage(92400, 1980, 55000, 3300),
}
"""By the id of the prompt."""


def feed(updates: SessionUpdates, message: Json) -> list[tuple[str, Value]]:
    """Hand on what a message of the log says of the session."""
    match message:
        case {"method": "session/prompt", "params": {"prompt": blocks}}:
            return updates.prompt(blocks, Moment())
        case {"method": "session/update", "params": {"update": update}}:
            return updates.update(update, Moment())
        case {"method": "session/request_permission", "params": params}:
            return updates.permission(params, Moment())
        case {"result": {"stopReason": _}, "id": request_id}:
            return updates.end_turn(USAGES[request_id])
    return []


def test_notifications_become_the_values_that_their_log_becomes() -> None:
    lines = LOG.read_bytes().splitlines()
    updates = SessionUpdates(SESSION)
    told = [one for line in lines for one in feed(updates, json.loads(line))] + updates.finish()
    from_log = Store().read_lines(lines, LOG).entries
    kinds = (Message, ToolCallUpdate, MessageUsage)
    assert [one for one in told if isinstance(one[1], kinds)] == [
        (entry.session, entry.value) for entry in from_log if isinstance(entry.value, kinds)
    ]
    assert [one for one in told if isinstance(one[1], Session)] == [
        (
            f"{SESSION}/toolu_01cb088f0b95154e208b18db",
            Session(
                title="Survey repo",
                parent=SESSION,
                parent_tool_call_id="toolu_01cb088f0b95154e208b18db",
            ),
        )
    ]


def test_a_record_that_is_not_understood_changes_nothing() -> None:
    updates = SessionUpdates("s")
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "One "}}
    updates.update(chunk, Moment())
    for bad in (
        None,
        {},
        {"sessionUpdate": "dream_update"},
        {"sessionUpdate": "tool_call"},
        {"sessionUpdate": "plan"},
        {"sessionUpdate": "agent_message"},
        {"sessionUpdate": "notice"},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": 3},
    ):
        with pytest.raises(NotUnderstoodError):
            updates.update(bad, Moment())
    updates.update(chunk | {"content": {"type": "text", "text": "two."}}, Moment())
    ((session, message),) = updates.finish()
    assert session == "s"
    assert isinstance(message, Message)
    assert message.content == "One two."
