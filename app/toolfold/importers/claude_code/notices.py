"""Records of the types `system` and `attachment`: what the program tells the user or the model.

All become `system` messages: a compaction's boundary without origin, everything else with the
origin `system`. A prompt that the user typed while the agent worked is stored as an attachment
too, and is a `user` message. How long a turn took and which hooks ran is understood, and is no
message.
"""

from collections.abc import Iterator
from dataclasses import replace

from toolfold import stored_json
from toolfold.importers.claude_code import injected, user
from toolfold.importers.claude_code.conversation import Conversation, Source
from toolfold.importers.claude_code.records import SurprisingShapeError, fields, text
from toolfold.transcript import MessageRole, Value

_SILENT = frozenset({"stop_hook_summary", "turn_duration"})
_COMPACTIONS = frozenset({"compact_boundary", "microcompact_boundary"})


def read_system(source: Source, conversation: Conversation) -> Iterator[Value]:
    """Yield what a `system` record becomes.

    Raises:
        SurprisingShapeError: if it says nothing that is understood.
    """
    subtype = text(source.record, "subtype")
    content = text(source.record, "content")
    if content is None and subtype == "api_error":
        content = f"API error: {stored_json.text(source.record.get('error'))}"
    if content is not None:
        is_compaction = subtype in _COMPACTIONS
        origin = None if is_compaction else injected.ORIGIN
        if is_compaction:
            yield from conversation.begin_turn()
        yield source.message(0, MessageRole.SYSTEM, content, origin=origin)
    elif subtype not in _SILENT:
        raise SurprisingShapeError(f"unknown notice {subtype}")


def read_attachment(source: Source, conversation: Conversation) -> Iterator[Value]:
    """Yield what an `attachment` record becomes.

    Raises:
        SurprisingShapeError: if it has no attachment, or one that is damaged.
    """
    attachment = fields(source.record, "attachment")
    typed = injected.queued_prompt(attachment)
    if isinstance(typed, str):
        yield from user.prompt(source, conversation, [{"type": "text", "text": typed}])
    elif isinstance(typed, list):
        yield from user.prompt(source, conversation, typed)
    else:
        said = injected.attachment_text(attachment)
        files = injected.attached_files(attachment)
        if said or files:
            message = source.message(0, MessageRole.SYSTEM, said, origin=injected.ORIGIN)
            yield replace(message, attachments=files)
