"""The enums of `transcript` and of the guard, as GraphQL shows them."""

import enum
from collections.abc import Mapping
from typing import TypeVar

import strawberry

from toolfold import transcript
from toolfold.schema import guard

E = TypeVar("E", bound=type[enum.Enum])


def _enum(cls: E, name: str, description: str, values: Mapping[str, str] | None = None) -> E:
    """Return `cls` as a GraphQL enum, with a description for each of `values` by its name."""
    shown = strawberry.enum(cls, name=name, description=description)
    for value in shown.__strawberry_definition__.values:
        value.description = (values or {}).get(value.name)
    return shown


SessionStatus = _enum(
    transcript.SessionStatus,
    "SessionStatus",
    "Where a session stands; only an archived one refuses writes.",
)
MessageRole = _enum(transcript.MessageRole, "MessageRole", "Whose words a message holds.")
ToolKind = _enum(transcript.ToolKind, "ToolKind", "What a tool call does (ACP `ToolKind`).")
ToolStatus = _enum(
    transcript.ToolStatus, "ToolStatus", "How far a tool call has come (ACP `ToolCallStatus`)."
)
ContentState = _enum(
    transcript.ContentState,
    "ContentState",
    "Whether a tool call's stored content is all there was.",
    {
        "COMPLETE": "All that the tool returned.",
        "CUT_BY_AGENT": "The agent had cut it before it was recorded; the rest is not known.",
        "MISSING": "The agent kept it in a file that was not there.",
        "NONE_RECORDED": "No result was recorded.",
    },
)
ContentOmissionReason = _enum(
    guard.OmissionReason,
    "ContentOmissionReason",
    "Which limit withheld a heavy field.",
    {
        "COMPACT_MODE": (
            "The default guard. Ask with `compact: false`, or one message at a time."
        ),
        "BUDGET_EXCEEDED": (
            "The hard budget of one operation. Use `contentSlice` or `contentUrl`."
        ),
    },
)


@strawberry.enum(description="What sessions can be ordered by.")
class SessionOrderField(enum.StrEnum):
    """The session columns that carry an order."""

    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"
    CONTENT_SIZE = "content_size"
    MESSAGE_COUNT = "message_count"


@strawberry.enum(description="A direction of order.")
class OrderDirection(enum.StrEnum):
    """Ascending or descending."""

    ASC = "asc"
    DESC = "desc"
