"""The enums of `transcript` and of the guard, as GraphQL shows them."""

import enum
from collections.abc import Mapping

import strawberry

from toolfold.schema.guard import OmissionReason
from toolfold.transcript import ContentState, MessageRole, SessionStatus, ToolKind, ToolStatus

__all__ = [
    "ContentState",
    "MessageRole",
    "OmissionReason",
    "OrderDirection",
    "SessionOrderField",
    "SessionStatus",
    "ToolKind",
    "ToolStatus",
]


def _show(
    cls: type[enum.Enum],
    description: str,
    *,
    name: str | None = None,
    values: Mapping[str, str] | None = None,
) -> None:
    """Make `cls` a GraphQL enum, with a description for each of `values` by its name."""
    shown = strawberry.enum(cls, name=name, description=description)
    for value in shown.__strawberry_definition__.values:  # type: ignore[attr-defined]  # set by the line above
        value.description = (values or {}).get(value.name)


_show(SessionStatus, "Where a session stands; only an archived one refuses writes.")
_show(MessageRole, "Whose words a message holds.")
_show(ToolKind, "What a tool call does (ACP `ToolKind`).")
_show(ToolStatus, "How far a tool call has come (ACP `ToolCallStatus`).")
_show(
    ContentState,
    "Whether a tool call's stored content is all there was.",
    values={
        "COMPLETE": "All that the tool returned.",
        "CUT_BY_AGENT": "The agent had cut it before it was recorded; the rest is not known.",
        "MISSING": "The agent kept it in a file that was not there.",
        "NONE_RECORDED": "No result was recorded.",
    },
)
_show(
    OmissionReason,
    "Which limit withheld a heavy field.",
    name="ContentOmissionReason",
    values={
        "COMPACT_MODE": "The default guard. Ask with `compact: false`, or one message at a time.",
        "BUDGET_EXCEEDED": "The hard budget of one operation. Use `contentSlice` or `contentUrl`.",
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
