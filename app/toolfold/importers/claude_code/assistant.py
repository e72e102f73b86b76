"""Records of the type `assistant`: one model response is several, with a block each.

Thinking, text and calls become a message each, in their order. Thinking of which only the
signature is left, and empty text, say nothing and become no message, unless the response has no
other that could carry its usage; signatures are not kept. What the program says in the model's
place, such as an API error, has the origin `system` and no model.
"""

from collections.abc import Iterator

from toolfold.importers.claude_code import injected
from toolfold.importers.claude_code.conversation import Conversation, Source
from toolfold.importers.claude_code.records import (
    Fields,
    SurprisingShapeError,
    block_type,
    blocks,
    fields,
    text,
)
from toolfold.importers.claude_code.tool_calls import OpenCall, tool_call
from toolfold.transcript import Json, Message, MessageRole, Value

SYNTHETIC_MODEL = "<synthetic>"

_CALLS = frozenset({"mcp_tool_use", "server_tool_use", "tool_use"})
_SAID = {
    "text": (MessageRole.ASSISTANT, "text"),
    "thinking": (MessageRole.THINKING, "thinking"),
    "redacted_thinking": (MessageRole.THINKING, None),
}


def read(source: Source, conversation: Conversation) -> Iterator[Value]:
    """Yield what an `assistant` record becomes.

    Raises:
        SurprisingShapeError: if it has no message.
    """
    message = fields(source.record, "message")
    content = blocks(message)
    response = text(message, "id") or text(source.record, "requestId") or source.place.uuid
    if not conversation.responses.is_current(response):
        conversation.turn += 1
        yield from conversation.responses.begin(response)
    model = text(message, "model")
    if model == SYNTHETIC_MODEL:
        model = None
    else:
        conversation.responses.usage(message.get("usage"))
    for position, block in enumerate(content):
        try:
            yield from _block(source, conversation, position, block, model)
        except SurprisingShapeError as error:
            yield source.kept_raw(error)


def _block(
    source: Source, conversation: Conversation, position: int, block: Json, model: str | None
) -> Iterator[Value]:
    kind = block_type(block)
    if kind in _SAID:
        yield from _said(source, conversation, position, block, model)
    elif kind in _CALLS:
        call = tool_call(block, source.place.time)
        conversation.calls[call.tool_call_id] = OpenCall(
            call.name or "", call.raw_input, conversation.turn
        )
        message = source.message(position, MessageRole.TOOL, model=model, tool_call=call)
        conversation.responses.message(message.client_id)
        yield message
    elif kind.endswith("tool_result"):
        yield conversation.result(source, block, None)
    else:
        raise SurprisingShapeError(f"unknown block {kind}")


def _said(
    source: Source, conversation: Conversation, position: int, block: Fields, model: str | None
) -> Iterator[Message]:
    role, key = _SAID[block["type"]]
    said = "" if key is None else block.get(key)
    if not isinstance(said, str):
        raise SurprisingShapeError(f"a block without {key}")
    is_synthetic = fields(source.record, "message").get("model") == SYNTHETIC_MODEL
    origin = injected.ORIGIN if is_synthetic else None
    message = source.message(position, role, said, origin=origin, model=model)
    if not said:
        conversation.responses.silent(message)
        return
    conversation.responses.message(message.client_id)
    yield message
