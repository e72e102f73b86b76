"""Toolfold's own export: JSON lines that take a session from one database to another, whole.

`toolfold export SESSION` writes it; see `toolfold.export` for the writer and the form. Files may
be joined: each header line starts a session. What is read here keeps its ids, its source format
and its states, so that an export of the copy has the bytes of the first one.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from toolfold import stored_json
from toolfold.errors import TranscriptError
from toolfold.importers import jsonl
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import Decoded, Line
from toolfold.transcript import (
    Attachment,
    ContentState,
    Entry,
    Json,
    Message,
    MessageRole,
    Record,
    Repair,
    Session,
    SessionStatus,
    ToolCall,
    ToolKind,
    ToolLocation,
    ToolStatus,
    Usage,
)

NAME = "toolfold"
VERSION = 1
"""What the header line's `toolfold` says; a change that this version could not read raises it."""

MAX_ID_CHARACTERS = 200

_SESSION_ID = re.compile(rf"[^/\x00-\x1f\x7f\ud800-\udfff]{{1,{MAX_ID_CHARACTERS}}}")

_T = TypeVar("_T")


def accepts(sample: Sequence[Json]) -> bool:
    """Say whether the first value is an export's header line."""
    return bool(sample) and _is_header(sample[0])


def parse(transcript: Transcript) -> Iterator[Entry]:
    """Yield each session of an export and its messages, in file order.

    A session's status and time of update are told again after its last message, because an
    archived session refuses messages and writing them moves the time. A line that is not what
    the export writes is kept as a raw record.

    Raises:
        TranscriptError: naming file and line, if a header is of a version that is not known
            here, or lacks what makes a session.
    """
    session: Session | None = None
    own_id: str | None = None
    for line in transcript.lines:
        for decoded in _decode(line):
            if not isinstance(decoded, Decoded):
                yield Entry(own_id, line.number, decoded)
            elif _is_header(decoded.value):
                yield from _closing(own_id, session)
                own_id, session = _header(transcript, line, decoded.value)
                yield Entry(own_id, line.number, replace(session, status=None))
            else:
                yield Entry(own_id, line.number, _message(line, decoded))
    yield from _closing(own_id, session)


def _decode(line: Line) -> Iterator[Decoded | Record | Repair]:
    """Yield the value of a line that the export wrote, else what `jsonl` makes of the line.

    An exported line may be nested as deep as a stored value, and a little more.
    """
    try:
        value = stored_json.decode(line.raw)
    except ValueError:
        yield from jsonl.decode(line)
    else:
        yield Decoded(value, repaired=False)


def _closing(own_id: str | None, session: Session | None) -> Iterator[Entry]:
    if session is not None:
        yield Entry(own_id, None, session)


def _is_header(value: Json) -> bool:
    return (
        isinstance(value, dict) and "toolfold" in value and isinstance(value.get("session"), dict)
    )


def _header(transcript: Transcript, line: Line, value: Json) -> tuple[str, Session]:
    """Return the agent's own id of the session, or the session's id if no agent gave one."""
    place = f"{transcript.path}:{line.number}"
    if value["toolfold"] != VERSION:
        raise TranscriptError(
            f"{place}: this is an export of version {value['toolfold']}, and this Toolfold reads"
            f" version {VERSION}. Upgrade Toolfold."
        )
    try:
        fields = _Fields(value["session"])
        session = Session(
            id=_session_id(fields.required("id", str)),
            format=fields.optional("format", str),
            agent=fields.required("agent", str),
            title=fields.optional("title", str),
            status=SessionStatus(fields.required("status", str)),
            cwd=fields.optional("cwd", str),
            git_branch=fields.optional("gitBranch", str),
            parent=fields.optional("parent", str),
            parent_tool_call_id=fields.optional("parentToolCallId", str),
            created_at=fields.time("createdAt"),
            updated_at=fields.time("updatedAt"),
        )
        return fields.optional("sourceSession", str) or fields.required("id", str), session
    except ValueError as error:
        raise TranscriptError(
            f"{place}: the session of this export is damaged: {error}."
        ) from error


def _session_id(value: str) -> str:
    """Return a session's id, which stands between slashes in routes and global ids.

    Raises:
        ValueError: if it cannot.
    """
    if not _SESSION_ID.fullmatch(value):
        raise ValueError(
            f"`id` must be 1 to {MAX_ID_CHARACTERS} characters without a slash or a control"
            " character"
        )
    return value


def _message(line: Line, decoded: Decoded) -> Message | Record:
    try:
        fields = _Fields(decoded.value).nested("message")
        if fields is None:
            return Record(line.raw, "not an exported message")
        return Message(
            client_id=fields.required("clientId", str),
            role=MessageRole(fields.required("role", str)),
            content=fields.optional("content", str) or "",
            origin=fields.optional("origin", str),
            model=fields.optional("model", str),
            usage=_usage(fields.nested("usage")),
            created_at=fields.time("createdAt"),
            tool_call=_tool_call(fields.nested("toolCall")),
            attachments=tuple(map(_attachment, fields.array("attachments"))),
            repaired=decoded.repaired or bool(fields.optional("repaired", bool)),
        )
    except ValueError as error:
        return Record(line.raw, f"not an exported message: {error}")


def _usage(fields: "_Fields | None") -> Usage | None:
    if fields is None:
        return None
    return Usage(
        input_tokens=fields.required("inputTokens", int),
        output_tokens=fields.required("outputTokens", int),
        cache_read_tokens=fields.required("cacheReadTokens", int),
        cache_creation_tokens=fields.required("cacheCreationTokens", int),
    )


def _tool_call(fields: "_Fields | None") -> ToolCall | None:
    if fields is None:
        return None
    state = fields.optional("contentState", str)
    return ToolCall(
        tool_call_id=fields.required("toolCallId", str),
        name=fields.optional("name", str),
        title=fields.optional("title", str),
        kind=ToolKind(fields.required("kind", str)),
        status=ToolStatus(fields.required("status", str)),
        locations=tuple(map(_location, fields.array("locations"))),
        content=fields.value.get("content"),
        content_state=ContentState(state) if state else None,
        raw_input=fields.value.get("rawInput"),
        raw_output=fields.value.get("rawOutput"),
        started_at=fields.time("startedAt"),
        ended_at=fields.time("endedAt"),
        child_session=fields.optional("childSession", str),
    )


def _location(fields: "_Fields") -> ToolLocation:
    return ToolLocation(fields.required("path", str), fields.optional("line", int))


def _attachment(fields: "_Fields") -> Attachment:
    return Attachment(
        data=base64.b64decode(fields.required("data", str), validate=True),
        mime_type=fields.required("mimeType", str),
        name=fields.optional("name", str),
    )


class _Fields:
    """An object of the export, read with the types that its writer gives; else ValueError."""

    def __init__(self, value: Json) -> None:
        if not isinstance(value, dict):
            raise ValueError("an object is missing")
        self.value = value

    def optional(self, key: str, kind: type[_T]) -> _T | None:
        value = self.value.get(key)
        if value is None or type(value) is kind:
            return value
        raise ValueError(f"`{key}` is not of its type")

    def required(self, key: str, kind: type[_T]) -> _T:
        value = self.optional(key, kind)
        if value is None:
            raise ValueError(f"`{key}` is missing")
        return value

    def time(self, key: str) -> datetime | None:
        text = self.optional(key, str)
        if text is None:
            return None
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise ValueError(f"`{key}` has no time zone")
        return time

    def nested(self, key: str) -> "_Fields | None":
        value = self.value.get(key)
        return None if value is None else _Fields(value)

    def array(self, key: str) -> list["_Fields"]:
        return [_Fields(value) for value in self.optional(key, list) or []]
