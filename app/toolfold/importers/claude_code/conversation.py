"""One session as it is read: what is open in it, never what is finished, and one record of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolfold.importers.claude_code.files import SessionFiles
from toolfold.importers.claude_code.records import Envelope, Fields
from toolfold.importers.claude_code.results import tool_result
from toolfold.importers.claude_code.tool_calls import OpenCall
from toolfold.importers.claude_code.usage import Responses
from toolfold.transcript import (
    ContentState,
    Json,
    Message,
    MessageRole,
    Record,
    ToolCall,
    ToolCallUpdate,
    ToolStatus,
    Value,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One record of a session, where it stands, and the bytes that it was read from."""

    record: Fields
    place: Envelope
    files: SessionFiles
    raw: bytes
    repaired: bool

    def message(
        self,
        position: int,
        role: MessageRole,
        content: str = "",
        *,
        origin: str | None = None,
        model: str | None = None,
        tool_call: ToolCall | None = None,
    ) -> Message:
        """Return the message of the record's block at `position`; ids are the same each time."""
        return Message(
            client_id=f"{self.place.uuid}:{position}",
            role=role,
            content=content,
            origin=origin,
            model=model,
            created_at=self.place.time,
            tool_call=tool_call,
            repaired=self.repaired,
        )

    def kept_raw(self, reason: object) -> Record:
        """Return the record as it was read, because some part of it was not understood."""
        return Record(self.raw, f"{self.record['type']}: {reason}")


@dataclass(slots=True)
class Conversation:
    """What must be known of a session to read on in it.

    `turn` counts what ends the wait for a result: each response, each prompt or interruption of the
    user's, and each compaction. What the program puts in between does not.
    """

    turn: int = 0
    calls: dict[str, OpenCall] = field(default_factory=dict)
    responses: Responses = field(default_factory=Responses)

    def result(self, source: Source, block: Fields, own_copy: Json) -> ToolCallUpdate:
        """Return the update that ends a call; `own_copy` is the record's `toolUseResult`.

        Raises:
            SurprisingShapeError: if the block does not say which call it is the result of.
        """
        call = self.calls.pop(str(block.get("tool_use_id")), None)
        return tool_result(
            block, call, own_copy, source.place, source.files, repaired=source.repaired
        )

    def begin_turn(self) -> Iterator[Message]:
        """End the wait for results; tell what must stand before the message that ends it."""
        self.turn += 1
        yield from self.responses.tell_silent()

    def begun_by(self, prompt: str) -> str | None:
        """Return the open call that asked for a sub-agent with this prompt; None if none did."""
        for tool_call_id, call in self.calls.items():
            if call.child is None and call.argument("prompt") == prompt:
                return tool_call_id
        return None

    def description(self, tool_call_id: str | None) -> str | None:
        """Return what an open call says that its sub-agent is for."""
        call = self.calls.get(tool_call_id or "")
        return call.argument("description") if call else None

    def begin_child(self, tool_call_id: str | None, child: str) -> Iterator[ToolCallUpdate]:
        """Tell once that an open call began the session `child`."""
        call = self.calls.get(tool_call_id or "")
        if call is not None and call.child is None:
            call.child = child
            yield ToolCallUpdate(str(tool_call_id), child_session=child)

    def end(self) -> Iterator[Value]:
        """Yield what only the end of the file tells: the last usage, and calls left behind.

        A call of the last response may still be answered, and stays pending.
        """
        yield from self.responses.end()
        for tool_call_id, call in self.calls.items():
            if call.turn != self.turn:
                yield ToolCallUpdate(
                    tool_call_id,
                    status=ToolStatus.FAILED,
                    content_state=ContentState.NONE_RECORDED,
                )
