"""Records of the type `user`: prompts, the results of tools, and what is put in between.

Each text block is a `user` message; pictures and documents are attachments of the first one that
is the user's own. What the program wrote in the user's place (`isMeta`, command wrappers,
reminders, notifications) has the origin `system`. The summary after a compaction is a `system`
message.
"""

from collections.abc import Iterator
from dataclasses import replace

from toolfold.importers.claude_code import injected
from toolfold.importers.claude_code.blocks import attachment, is_media
from toolfold.importers.claude_code.conversation import Conversation, Source
from toolfold.importers.claude_code.records import (
    SurprisingShapeError,
    block_type,
    blocks,
    fields,
)
from toolfold.transcript import Attachment, Json, MessageRole, Value


def read(source: Source, conversation: Conversation) -> Iterator[Value]:
    """Yield what a `user` record becomes.

    Raises:
        SurprisingShapeError: if it has no message.
    """
    content = blocks(fields(source.record, "message"))
    # The program's own copy stands once in a record; it is that of the first result.
    own_copy = source.record.get("toolUseResult")
    for block in content:
        if block_type(block) == "tool_result":
            yield from _result(source, conversation, block, own_copy)
            own_copy = None
    if source.record.get("isCompactSummary") is True:
        yield from prompt(source, conversation, content, role=MessageRole.SYSTEM)
    else:
        origin = injected.ORIGIN if _is_injected(source) else None
        yield from prompt(source, conversation, content, origin=origin)


def prompt(
    source: Source,
    conversation: Conversation,
    content: list[Json],
    *,
    role: MessageRole = MessageRole.USER,
    origin: str | None = None,
) -> Iterator[Value]:
    """Yield a message for each text block, the first of them with the files among the blocks.

    Files without a text of the user are a message of their own.
    """
    texts: list[tuple[int, str, str | None]] = []
    files: list[Attachment] = []
    for position, block in enumerate(content):
        kind = block_type(block)
        try:
            if kind == "text":
                texts.append((position, *_text(block, role, origin)))
            elif is_media(block):
                files.append(attachment(block))
            elif kind != "tool_result":
                raise SurprisingShapeError(f"unknown block {kind}")
        except SurprisingShapeError as error:
            yield source.kept_raw(error)
    if files and all(own_origin != origin for _, _, own_origin in texts):
        texts.append((len(content), "", origin))
    if any(own is None or injected.is_interruption(text) for _, text, own in texts):
        yield from conversation.begin_turn()
    for position, text, own_origin in texts:
        taken = tuple(files) if own_origin == origin else ()
        if taken:
            files = []
        message = source.message(position, role, text, origin=own_origin)
        yield replace(message, attachments=taken) if taken else message


def _result(
    source: Source, conversation: Conversation, block: Json, own_copy: Json
) -> Iterator[Value]:
    try:
        yield conversation.result(source, block, own_copy)
    except SurprisingShapeError as error:
        yield source.kept_raw(error)


def _text(block: Json, role: MessageRole, origin: str | None) -> tuple[str, str | None]:
    """Return a text block's text, and who put it there."""
    text = block.get("text")
    if not isinstance(text, str):
        raise SurprisingShapeError("a text block without text")
    if role is MessageRole.USER and injected.is_injected(text):
        return text, injected.ORIGIN
    return text, origin


def _is_injected(source: Source) -> bool:
    origin = source.record.get("origin")
    is_other = isinstance(origin, dict) and origin.get("kind", "human") != "human"
    return is_other or source.record.get("isMeta") is True
