"""Entries as the lines of an import stream, which `stream` reads: nothing is lost on the way."""

import base64
from datetime import UTC, datetime
from typing import Any

import orjson

from toolfold import stored_json
from toolfold.errors import InvalidJsonError
from toolfold.importers.toolfold_export import VERSION
from toolfold.ingest.gathering import MAX_BYTES, MAX_ENTRIES, TOO_DEEP
from toolfold.ingest.source import Source
from toolfold.ingest.stream import Place
from toolfold.transcript import (
    UNSET,
    ContentState,
    Entry,
    Message,
    MessageUsage,
    Record,
    Repair,
    Session,
    ToolCall,
    ToolCallUpdate,
    ToolLocation,
    Usage,
    Value,
)

_Said = dict[str, Any]


class Telling:
    """Makes packets of lines of a file's entries, as `Gatherer` makes batches."""

    def __init__(self) -> None:
        self.drop()

    def drop(self) -> None:
        """Forget what was added since the last packet was taken."""
        self._lines: list[bytes] = []
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to take the packet."""
        return len(self._lines) >= MAX_ENTRIES or self._bytes >= MAX_BYTES

    def take(self) -> bytes:
        """Return the lines of what was added, and start anew."""
        packet = b"".join(self._lines)
        self.drop()
        return packet

    def skip(self, entry: Entry) -> None:
        """Tell whose session is meant by an entry that need not be written again."""
        value = entry.value
        if isinstance(value, Session) and (value.id is not None or value.format is not None):
            known = _given({"id": value.id, "format": value.format})
            self._put(orjson.dumps(_line(entry, "known", known)))

    def add(self, entry: Entry) -> None:
        """Add an entry; JSON in it that is nested too deep becomes a record of its own."""
        kind, said = _SAID[type(entry.value)](entry.value)
        too_deep: list[bytes] = []
        try:
            line = orjson.dumps(_line(entry, kind, said))
        except orjson.JSONEncodeError:
            too_deep = _take_too_deep(said.get("toolCall", said))
            if kind in ("message", "toolCallUpdate") and stored_json.repaired(said)[1]:
                said["repaired"] = True
            line = stored_json.text(_line(entry, kind, said)).encode()
        self._put(line)
        for raw in too_deep:
            record, of_record = _record(Record(raw, TOO_DEEP))
            self._put(orjson.dumps(_line(entry, record, of_record)))

    def _put(self, line: bytes) -> None:
        self._lines.append(line + b"\n")
        self._bytes += len(line)


def source_line(source: Source) -> bytes:
    """Return the line that begins the stream of a file."""
    said = {
        "id": source.id,
        "path": source.path,
        "format": source.format,
        "companions": source.companions.hex(),
        "changedAt": _time(source.changed_at),
        "importedLine": source.imported_line,
        "session": source.session_id,
        "live": source.is_live,
    }
    return orjson.dumps({"toolfold": VERSION, "source": said}) + b"\n"


def place_line(place: Place) -> bytes:
    """Return the line that says how far the file is told."""
    said = {
        "line": place.reached.place.line,
        "size": place.reached.place.size,
        "digest": place.reached.place.digest.hex(),
        "passedBy": place.passed_by,
        "end": place.reached.is_end,
    }
    return orjson.dumps({"place": said}) + b"\n"


def _line(entry: Entry, kind: str, said: _Said) -> _Said:
    return {"of": [entry.session, entry.line], kind: said}


def _take_too_deep(said: _Said) -> list[bytes]:
    """Take the parts out of a tool call that are nested too deep to be stored; return their text.

    What was recorded as its content is missing then.
    """
    taken: list[bytes] = []
    for key in ("content", "rawInput", "rawOutput"):
        try:
            stored_json.encode(stored_json.repaired(said.get(key))[0])
        except InvalidJsonError:
            taken.append(stored_json.text(said[key]).encode())
            said[key] = None
            if key == "content":
                said["contentState"] = ContentState.MISSING.value
    return taken


def _session(value: Session) -> tuple[str, _Said]:
    said = {
        "id": value.id,
        "format": value.format,
        "agent": value.agent,
        "title": value.title,
        "status": value.status,
        "cwd": value.cwd,
        "gitBranch": value.git_branch,
        "parent": value.parent,
        "parentToolCallId": value.parent_tool_call_id,
        "createdAt": _time(value.created_at),
        "updatedAt": _time(value.updated_at),
    }
    return "session", _given(said)


def _message(value: Message) -> tuple[str, _Said]:
    said = {
        "clientId": value.client_id,
        "role": value.role,
        "content": value.content or None,
        "origin": value.origin,
        "model": value.model,
        "usage": _usage(value.usage),
        "createdAt": _time(value.created_at),
        "toolCall": None if value.tool_call is None else _tool_call(value.tool_call),
        "attachments": [
            {
                "data": base64.b64encode(attachment.data).decode("ascii"),
                "mimeType": attachment.mime_type,
                "name": attachment.name,
            }
            for attachment in value.attachments
        ]
        or None,
        "repaired": value.repaired or None,
    }
    return "message", _given(said)


def _tool_call(call: ToolCall) -> _Said:
    said = {
        "toolCallId": call.tool_call_id,
        "name": call.name,
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "locations": _locations(call.locations) or None,
        "content": call.content,
        "contentState": call.content_state,
        "rawInput": call.raw_input,
        "rawOutput": call.raw_output,
        "startedAt": _time(call.started_at),
        "endedAt": _time(call.ended_at),
        "childSession": call.child_session,
    }
    return _given(said)


def _tool_call_update(update: ToolCallUpdate) -> tuple[str, _Said]:
    said = {
        "toolCallId": update.tool_call_id,
        "name": update.name,
        "title": update.title,
        "kind": update.kind,
        "status": update.status,
        "locations": UNSET if update.locations is UNSET else _locations(update.locations or ()),
        "content": update.content,
        "contentState": update.content_state,
        "rawInput": update.raw_input,
        "rawOutput": update.raw_output,
        "startedAt": UNSET if update.started_at is UNSET else _time(update.started_at),
        "endedAt": UNSET if update.ended_at is UNSET else _time(update.ended_at),
        "childSession": update.child_session,
        "repaired": update.repaired,
    }
    return "toolCallUpdate", {key: one for key, one in said.items() if one is not UNSET}


def _message_usage(value: MessageUsage) -> tuple[str, _Said]:
    return "messageUsage", {"clientId": value.client_id, "usage": _usage(value.usage)}


def _record(value: Record) -> tuple[str, _Said]:
    raw = base64.b64encode(value.raw).decode("ascii")
    return "record", {"raw": raw, "reason": value.reason}


def _repair(value: Repair) -> tuple[str, _Said]:
    return "repair", {"reason": value.reason}


_SAID: dict[type[Value], Any] = {
    Session: _session,
    Message: _message,
    ToolCallUpdate: _tool_call_update,
    MessageUsage: _message_usage,
    Record: _record,
    Repair: _repair,
}


def _usage(usage: Usage | None) -> _Said | None:
    if usage is None:
        return None
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheCreationTokens": usage.cache_creation_tokens,
    }


def _locations(locations: tuple[ToolLocation, ...]) -> list[_Said]:
    return [{"path": location.path, "line": location.line} for location in locations]


def _time(time: datetime | None) -> str | None:
    """Return a time with its zone; one that has none is of UTC, as ingest has it."""
    if time is None:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()


def _given(said: _Said) -> _Said:
    return {key: value for key, value in said.items() if value is not None}
