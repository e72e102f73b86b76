"""The values of an export's JSON: what stands under `session` and `message`, as transcript values.

Every type is checked: what the export would not write is a ValueError, told in a few words.
"""

import base64
import re
from datetime import datetime
from typing import TypeVar

from toolfold.transcript import (
    Attachment,
    ContentState,
    Json,
    Message,
    MessageRole,
    Session,
    SessionStatus,
    ToolCall,
    ToolKind,
    ToolLocation,
    ToolStatus,
    Usage,
)

T = TypeVar("T")

MAX_ID_CHARACTERS = 200

_NAME = re.compile(rf"[^/\x00-\x1f\x7f\ud800-\udfff]{{1,{MAX_ID_CHARACTERS}}}")


def session(fields: "Fields") -> Session:
    """Return what is said of a session, which need not be more than its id."""
    status = fields.optional("status", str)
    return Session(
        id=_name(fields.optional("id", str), "id"),
        format=_name(fields.optional("format", str), "format"),
        agent=fields.optional("agent", str),
        title=fields.optional("title", str),
        status=SessionStatus(status) if status else None,
        cwd=fields.optional("cwd", str),
        git_branch=fields.optional("gitBranch", str),
        parent=fields.optional("parent", str),
        parent_tool_call_id=fields.optional("parentToolCallId", str),
        created_at=fields.time("createdAt"),
        updated_at=fields.time("updatedAt"),
    )


def message(fields: "Fields", *, repaired: bool) -> Message:
    """Return a message; `repaired` says that its line had to be mended to be read."""
    return Message(
        client_id=fields.required("clientId", str),
        role=MessageRole(fields.required("role", str)),
        content=fields.optional("content", str) or "",
        origin=fields.optional("origin", str),
        model=fields.optional("model", str),
        usage=usage(fields.nested("usage")),
        created_at=fields.time("createdAt"),
        tool_call=_tool_call(fields.nested("toolCall")),
        attachments=tuple(map(_attachment, fields.array("attachments"))),
        repaired=repaired or bool(fields.optional("repaired", bool)),
    )


def _name(value: str | None, key: str) -> str | None:
    """Return a session's id, which stands between slashes in routes and global ids, or format.

    Raises:
        ValueError: if it cannot.
    """
    if value is not None and not _NAME.fullmatch(value):
        raise ValueError(
            f"`{key}` must be 1 to {MAX_ID_CHARACTERS} characters without a slash or a control"
            " character"
        )
    return value


def usage(fields: "Fields | None") -> Usage | None:
    """Return a usage, None if there is none."""
    if fields is None:
        return None
    return Usage(
        input_tokens=fields.required("inputTokens", int),
        output_tokens=fields.required("outputTokens", int),
        cache_read_tokens=fields.required("cacheReadTokens", int),
        cache_creation_tokens=fields.required("cacheCreationTokens", int),
    )


def _tool_call(fields: "Fields | None") -> ToolCall | None:
    if fields is None:
        return None
    state = fields.optional("contentState", str)
    return ToolCall(
        tool_call_id=fields.required("toolCallId", str),
        name=fields.optional("name", str),
        title=fields.optional("title", str),
        kind=ToolKind(fields.required("kind", str)),
        status=ToolStatus(fields.required("status", str)),
        locations=tuple(map(location, fields.array("locations"))),
        content=fields.value.get("content"),
        content_state=ContentState(state) if state else None,
        raw_input=fields.value.get("rawInput"),
        raw_output=fields.value.get("rawOutput"),
        started_at=fields.time("startedAt"),
        ended_at=fields.time("endedAt"),
        child_session=fields.optional("childSession", str),
    )


def location(fields: "Fields") -> ToolLocation:
    """Return a place in a file."""
    return ToolLocation(fields.required("path", str), fields.optional("line", int))


def _attachment(fields: "Fields") -> Attachment:
    return Attachment(
        data=base64.b64decode(fields.required("data", str), validate=True),
        mime_type=fields.required("mimeType", str),
        name=fields.optional("name", str),
    )


class Fields:
    """An object of the export, read with the types that its writer gives; else ValueError."""

    def __init__(self, value: Json) -> None:
        if not isinstance(value, dict):
            raise ValueError("an object is missing")
        self.value = value

    def optional(self, key: str, kind: type[T]) -> T | None:
        """Return the value of this type under a key, None if there is none."""
        value = self.value.get(key)
        if value is None or type(value) is kind:
            return value
        raise ValueError(f"`{key}` is not of its type")

    def required(self, key: str, kind: type[T]) -> T:
        """Return the value of this type under a key."""
        value = self.optional(key, kind)
        if value is None:
            raise ValueError(f"`{key}` is missing")
        return value

    def time(self, key: str) -> datetime | None:
        """Return the time under a key, which has a zone; None if there is none."""
        text = self.optional(key, str)
        if text is None:
            return None
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise ValueError(f"`{key}` has no time zone")
        return time

    def nested(self, key: str) -> "Fields | None":
        """Return the object under a key, None if there is none."""
        value = self.value.get(key)
        return None if value is None else Fields(value)

    def array(self, key: str) -> list["Fields"]:
        """Return the objects of the array under a key."""
        return [Fields(value) for value in self.optional(key, list) or []]
