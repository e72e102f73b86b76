"""What a message that is told again adds to the one that is stored.

The same message comes twice when a file is read again, when an agent repeats its history, and
when a file ended amid a message that has gone on since. It never takes anything away: what is
stored may have been changed by updates that follow it. Its text may only have grown, what was
not known may be known now, and a tool call may have come further.
"""

from collections.abc import Mapping
from typing import Any

from toolfold.ingest.columns import Columns
from toolfold.store.recording.message import USAGE
from toolfold.transcript import ContentState, ToolKind, ToolStatus

TEXT = ("content_size", "content_hash", "content_preview", "content")
"""The columns of a message's text."""

_CONTENT = (
    "tool_content_size",
    "tool_content_hash",
    "tool_content_state",
    "tool_content_preview",
)
_CALL = (
    "tool_call_id",
    "tool_name",
    "tool_title",
    "tool_kind",
    "tool_status",
    "tool_locations",
    "tool_started_at",
    "tool_ended_at",
    "child_source_session",
    "raw_input_size",
    "raw_input_hash",
    "raw_output_size",
    "raw_output_hash",
)
_SAYS_NOTHING = {"tool_kind": ToolKind.OTHER.value, "tool_locations": "[]"}
_PROGRESS = {
    None: 0,
    ToolStatus.PENDING: 1,
    ToolStatus.IN_PROGRESS: 2,
    ToolStatus.COMPLETED: 3,
    ToolStatus.FAILED: 3,
}


def changes(stored: Mapping[str, Any], told: Columns) -> Columns:
    """Return the columns of `stored` that a message told again changes; often none."""
    found: Columns = {}
    if told["content_size"] > stored["content_size"]:
        found |= {name: told[name] for name in TEXT}
    for name in ("origin", "model", *USAGE):
        if stored[name] is None and told[name] is not None:
            found[name] = told[name]
    if stored["attachment_count"] == 0 and told["attachment_count"]:
        found["attachment_count"] = told["attachment_count"]
    if _has_come_further(stored, told):
        found |= _call_changes(told)
    if told["repaired"]:
        found["repaired"] = True
    return found


def given(told: Columns) -> Columns:
    """Return the columns of a call that say something, as a patch of the same call would."""
    found = _call_changes(told)
    del found["tool_call_id"]
    found.pop("tool_started_at", None)
    if told["tool_status"] == ToolStatus.PENDING:
        del found["tool_status"]
    return found


def _has_come_further(stored: Mapping[str, Any], told: Columns) -> bool:
    if _PROGRESS[told["tool_status"]] > _PROGRESS[stored["tool_status"]]:
        return True
    return (
        stored["tool_content_state"] == ContentState.NONE_RECORDED
        and told["tool_content_hash"] is not None
    )


def _call_changes(told: Columns) -> Columns:
    found = {
        name: told[name]
        for name in _CALL
        if told[name] is not None and told[name] != _SAYS_NOTHING.get(name)
    }
    if told["tool_content_hash"] is not None:
        found |= {name: told[name] for name in _CONTENT}
    return found
