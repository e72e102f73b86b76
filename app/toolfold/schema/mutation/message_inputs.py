"""Messages and tool calls as clients write them, and as values of a transcript."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import strawberry

from toolfold.errors import InvalidInputError
from toolfold.schema.enums import MessageRole, ToolKind, ToolStatus
from toolfold.schema.mutation import texts
from toolfold.schema.scalars import DateTime, JSONValue
from toolfold.transcript import UNSET, Json, Message, ToolCall, ToolCallUpdate, ToolLocation

Path = tuple[str | int, ...]


@strawberry.input(description="A place in a file; `line` is counted from 1.")
class NewToolLocation:
    """The input of a `ToolLocation`."""

    path: str
    line: int | None = strawberry.UNSET

    def value(self, path: Path) -> ToolLocation:
        """Return it as a value of a transcript.

        Raises:
            InvalidInputError: below this path, if it is a line that no file has.
        """
        line: int | None = texts.given(self.line)
        if line is not None and line < 1:
            raise InvalidInputError("A line is at least 1.", *path, "line")
        return ToolLocation(self.path, line)


@strawberry.input(description="`content` is the ACP content array; null is none recorded.")
class NewToolMetadata:
    """The input of a tool call that a message carries."""

    tool_call_id: str
    name: str | None = strawberry.UNSET
    title: str | None = strawberry.UNSET
    kind: ToolKind | None = ToolKind.OTHER
    status: ToolStatus | None = ToolStatus.COMPLETED
    locations: list[NewToolLocation] | None = strawberry.UNSET
    content: JSONValue | None = strawberry.UNSET
    raw_input: JSONValue | None = strawberry.UNSET
    raw_output: JSONValue | None = strawberry.UNSET

    def value(self, path: Path) -> ToolCall:
        """Return it as a value of a transcript.

        Raises:
            InvalidInputError: below this path, if its id, a location or its content cannot be.
        """
        return ToolCall(
            tool_call_id=texts.identifier(self.tool_call_id, *path, "toolCallId"),
            name=texts.given(self.name),
            title=texts.given(self.title),
            kind=self.kind or ToolKind.OTHER,
            status=self.status or ToolStatus.COMPLETED,
            locations=_locations(texts.given(self.locations), path),
            content=_content(texts.given(self.content), path),
            raw_input=texts.given(self.raw_input),
            raw_output=texts.given(self.raw_output),
        )


@strawberry.input(
    description=(
        "`clientMessageId` names the message in its session: what is sent again under it is stored "
        "once. A text of a TOOL message that its content has too is stored once, with the content."
    )
)
class NewMessage:
    """The input of a message."""

    client_message_id: str
    role: MessageRole
    content: str | None = ""
    origin: str | None = strawberry.UNSET
    model: str | None = strawberry.UNSET
    created_at: DateTime | None = strawberry.UNSET
    tool_metadata: NewToolMetadata | None = strawberry.UNSET

    def value(self, path: Path) -> Message:
        """Return it as a value of a transcript.

        Raises:
            InvalidInputError: below this path, if an id, a location or the content cannot be.
        """
        created_at = texts.given(self.created_at)
        call: NewToolMetadata | None = texts.given(self.tool_metadata)
        return Message(
            client_id=texts.identifier(self.client_message_id, *path, "clientMessageId"),
            role=self.role,
            content=self.content or "",
            origin=texts.given(self.origin),
            model=texts.given(self.model),
            created_at=None if created_at is None else datetime.fromisoformat(created_at),
            tool_call=None if call is None else call.value((*path, "toolMetadata")),
        )


@strawberry.input(
    name="ToolCallUpdate",
    description=(
        "A patch, as ACP `tool_call_update`: an absent field keeps what is there, an array "
        "replaces it (`[]` too), null clears it; `kind` and `status` cannot be null."
    ),
)
class ToolCallUpdateInput:
    """The input of a patch."""

    tool_call_id: str
    name: str | None = strawberry.UNSET
    title: str | None = strawberry.UNSET
    kind: ToolKind | None = strawberry.UNSET
    status: ToolStatus | None = strawberry.UNSET
    locations: list[NewToolLocation] | None = strawberry.UNSET
    content: JSONValue | None = strawberry.UNSET
    raw_input: JSONValue | None = strawberry.UNSET
    raw_output: JSONValue | None = strawberry.UNSET

    def value(self, path: Path) -> ToolCallUpdate:
        """Return it as a value of a transcript.

        Raises:
            InvalidInputError: below this path, if its id, a location or its content cannot be, or
                its kind or status is null.
        """
        for name in ("kind", "status"):
            if getattr(self, name) is None:
                raise InvalidInputError(f"A {name} cannot be null.", *path, name)
        is_relocated = texts.is_given(self.locations)
        return ToolCallUpdate(
            tool_call_id=texts.identifier(self.tool_call_id, *path, "toolCallId"),
            name=_patched(self.name),
            title=_patched(self.title),
            kind=_patched(self.kind),
            status=_patched(self.status),
            locations=_locations(self.locations, path) if is_relocated else UNSET,
            content=_content(_patched(self.content), path),
            raw_input=_patched(self.raw_input),
            raw_output=_patched(self.raw_output),
        )


def messages_of(asked: Sequence[NewMessage]) -> list[Message]:
    """Return the values of `input.messages`.

    Raises:
        InvalidInputError: for the first that cannot be.
    """
    return [one.value(("messages", place)) for place, one in enumerate(asked)]


def updates_of(asked: Sequence[ToolCallUpdateInput]) -> list[ToolCallUpdate]:
    """Return the values of `input.updates`.

    Raises:
        InvalidInputError: for the first that cannot be.
    """
    return [one.value(("updates", place)) for place, one in enumerate(asked)]


def _locations(asked: Sequence[NewToolLocation] | None, path: Path) -> tuple[ToolLocation, ...]:
    return tuple(one.value((*path, "locations", n)) for n, one in enumerate(asked or ()))


def _content(value: Json, path: Path) -> Json:
    if value is not None and value is not UNSET and not isinstance(value, list):
        raise InvalidInputError("A content must be an array of blocks, or null.", *path, "content")
    return value


def _patched(value: Any) -> Any:
    return value if texts.is_given(value) else UNSET
