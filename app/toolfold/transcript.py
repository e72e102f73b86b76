"""The values that a transcript is made of, in the names of the Agent Client Protocol (ACP).

Pure data: importers and mutations make them, `ingest` turns them into rows. A value says what
its source said and nothing about storage. JSON values are Python's own (dict, list, str, int,
float, bool, None); for a heavy part None means that none was recorded.
"""

import enum
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Json = Any
"""A JSON value as Python's json module makes it."""


class MessageRole(enum.StrEnum):
    """Whose words a message holds."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    THINKING = "thinking"
    PLAN = "plan"


class ToolKind(enum.StrEnum):
    """What a tool call does (ACP `ToolKind`)."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"


class ToolStatus(enum.StrEnum):
    """How far a tool call has come (ACP `ToolCallStatus`)."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class ContentState(enum.StrEnum):
    """Whether a tool call's recorded content is all there was."""

    COMPLETE = "complete"
    CUT_BY_AGENT = "cut_by_agent"
    MISSING = "missing"
    NONE_RECORDED = "none_recorded"


class SessionStatus(enum.StrEnum):
    """Where a session stands; only an archived one refuses writes."""

    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    ARCHIVED = "archived"


class Unset(enum.Enum):
    """The absence of a value in a patch, as distinct from null."""

    UNSET = enum.auto()


UNSET = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model response."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ToolLocation:
    """A place in a file that a tool call touched; `line` is 1-based (ACP `ToolCallLocation`)."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message, as its own bytes, never base64."""

    data: bytes
    mime_type: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, with its result if there is one (ACP `ToolCall`).

    `content` is the ACP content array as recorded, or whatever JSON stood in its place.
    `content_state` None is derived: COMPLETE with content, NONE_RECORDED without.
    `child_session` is the agent's own id of the sub-agent's session that the call started.
    """

    tool_call_id: str
    name: str | None = None
    title: str | None = None
    kind: ToolKind = ToolKind.OTHER
    status: ToolStatus = ToolStatus.COMPLETED
    locations: tuple[ToolLocation, ...] = ()
    content: Json = None
    content_state: ContentState | None = None
    raw_input: Json = None
    raw_output: Json = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    child_session: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `client_id` is unique in its session and the same at every import.

    `origin` says who put it there when that is not the role itself: `system` for injected text.
    `created_at` is aware. `repaired` is set when bytes had to be mended to read it.
    """

    client_id: str
    role: MessageRole
    content: str = ""
    origin: str | None = None
    model: str | None = None
    usage: Usage | None = None
    created_at: datetime | None = None
    tool_call: ToolCall | None = None
    attachments: tuple[Attachment, ...] = ()
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallUpdate:
    """A patch of a tool call that a message carries already (ACP `tool_call_update`).

    UNSET keeps what is there; None clears name, title, locations, content and the raw values. A
    call that is not known yet is appended as a message of its own.
    """

    tool_call_id: str
    name: str | Unset | None = UNSET
    title: str | Unset | None = UNSET
    kind: ToolKind | Unset = UNSET
    status: ToolStatus | Unset = UNSET
    locations: tuple[ToolLocation, ...] | Unset | None = UNSET
    content: Json | Unset = UNSET
    content_state: ContentState | Unset = UNSET
    raw_input: Json | Unset = UNSET
    raw_output: Json | Unset = UNSET
    started_at: datetime | Unset = UNSET
    ended_at: datetime | Unset = UNSET
    child_session: str | Unset = UNSET
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class MessageUsage:
    """The usage of the model response that the message `client_id` ends; replaces an earlier one.

    None takes back what was told when the file ended amid a response that has gone on since.
    """

    client_id: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Session:
    """What a source says of a session; None is not known, and keeps what is stored.

    Of several directories the first counts, of other texts the last.

    Yielded first for each session of a file and again whenever more is known. `agent` is a
    name such as `claude-code`. `parent` is the agent's own id of the parent session.
    `id` and `format` are given only by Toolfold's own export; else both follow from the importer.
    """

    agent: str | None = None
    title: str | None = None
    status: SessionStatus | None = None
    cwd: str | None = None
    git_branch: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    parent: str | None = None
    parent_tool_call_id: str | None = None
    id: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """Source bytes that no importer understood, kept raw; `reason` says why in a few words."""

    raw: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Repair:
    """Something mended on the way in, for the report, such as `two objects on one line`."""

    reason: str


Value = Session | Message | ToolCallUpdate | MessageUsage | Record | Repair


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a transcript and where it came from.

    `session` is the agent's own id of the session that the value belongs to; None for a record
    or repair of the file as a whole. `line` is the 1-based number of the line being read when
    the value became known, so it never falls; None for what only the file's end told.
    """

    session: str | None
    line: int | None
    value: Value
