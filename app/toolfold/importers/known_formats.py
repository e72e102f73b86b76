"""Transcript formats that are recognised so that they can be named, and not imported yet.

Each has a name to show and a test of the first JSON value or values of a file. The shapes are
those of the programs' own files; nothing is taken from a file's name.
"""

from collections.abc import Callable, Sequence
from typing import Any

from toolfold.transcript import Json

_Object = dict[str, Any]

SQLITE_HEADER = b"SQLite format 3\x00"
SQLITE = "SQLite database (opencode, Goose)"

# Tuples, since a file may hold anything in the place of a type, even what has no hash.
_CODEX_TYPES = (
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
)
_CLAUDE_STREAM_TYPES = ("system", "user", "assistant", "result", "stream_event")
_GEMINI_STREAM_TYPES = ("init", "message", "tool_use", "tool_result", "result")


def name(sample: Sequence[Json]) -> str | None:
    """Return the name of the format whose first values these are; None if it is none of them."""
    for format_name, matches in _FORMATS.items():
        if any(matches(value) for value in _objects(sample)):
            return format_name
    return None


def _objects(sample: Sequence[Json]) -> list[_Object]:
    """Return the objects among the values, those in an array of a document's own too."""
    items = sample[0] if len(sample) == 1 and isinstance(sample[0], list) else sample
    return [item for item in items if isinstance(item, dict)]


def _is_codex_rollout(value: _Object) -> bool:
    if "payload" in value:
        return value.get("type") in _CODEX_TYPES
    # Before 0.32 the first line had no type, and items stood bare.
    return {"id", "timestamp", "instructions"} <= value.keys()


def _is_codex_exec(value: _Object) -> bool:
    return value.get("type") == "thread.started" and "thread_id" in value


def _is_gemini_session(value: _Object) -> bool:
    return {"sessionId", "projectHash"} <= value.keys()


def _is_opencode_export(value: _Object) -> bool:
    info = value.get("info")
    return isinstance(info, dict) and {"id", "projectID", "directory"} <= info.keys()


def _is_claude_stream(value: _Object) -> bool:
    return "session_id" in value and value.get("type") in _CLAUDE_STREAM_TYPES


def _is_gemini_stream(value: _Object) -> bool:
    kind = value.get("type")
    if kind == "init":
        return {"session_id", "model", "timestamp"} <= value.keys()
    return kind in _GEMINI_STREAM_TYPES and {"tool_id", "timestamp"} <= value.keys()


def _is_openhands(value: _Object) -> bool:
    events = value.get("history")
    if isinstance(events, list):
        # The oldest form pairs an action and an observation.
        return any(map(_is_openhands_event, (e[0] if _is_pair(e) else e for e in events[:3])))
    return _is_openhands_event(value)


def _is_pair(event: Json) -> bool:
    return isinstance(event, list) and len(event) == len(("action", "observation"))


def _is_openhands_event(event: Json) -> bool:
    if not isinstance(event, dict):
        return False
    has_act = "action" in event or "observation" in event
    return has_act and {"source", "timestamp"} <= event.keys()


def _is_swe_agent(value: _Object) -> bool:
    if isinstance(value.get("trajectory"), list):
        steps = value["trajectory"][:1]
        return "environment" in value or any(map(_has_observation, steps))
    if value.get("trajectory_format"):
        return True
    history = value.get("history")
    return isinstance(history, list) and any(
        isinstance(turn, dict) and {"role", "content"} <= turn.keys() for turn in history[:1]
    )


def _has_observation(step: Json) -> bool:
    return isinstance(step, dict) and "observation" in step


def _is_cline(value: _Object) -> bool:
    kind = value.get("type")
    return "ts" in value and isinstance(kind, str) and kind in {"say", "ask"} and kind in value


_FORMATS: dict[str, Callable[[_Object], bool]] = {
    "Codex rollout": _is_codex_rollout,
    "Codex exec": _is_codex_exec,
    "Gemini CLI session": _is_gemini_session,
    "opencode export": _is_opencode_export,
    "Claude stream-json": _is_claude_stream,
    "Gemini stream-json": _is_gemini_stream,
    "OpenHands": _is_openhands,
    "SWE-agent trajectory": _is_swe_agent,
    "Cline": _is_cline,
}
