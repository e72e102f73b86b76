"""Texts that stand in a conversation and that neither the user nor the model wrote.

The program puts commands, their output, reminders and files into it, for the model to see. They
become messages with the origin `system`.
"""

import re
from typing import Any

from toolfold import stored_json
from toolfold.importers.claude_code.blocks import decoded
from toolfold.importers.claude_code.records import Fields, text
from toolfold.transcript import Attachment, Json

ORIGIN = "system"

_WRAPPER = re.compile(
    r"<(?P<tag>bash-input|bash-stderr|bash-stdout|command-args|command-contents|command-message"
    r"|command-name|ide_opened_file|ide_selection|local-command-caveat|local-command-stderr"
    r"|local-command-stdout|system-reminder|task-notification|user-memory-input)>"
    r".*?</(?P=tag)>",
    re.DOTALL,
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]*\]")


def is_injected(content: str) -> bool:
    """Say whether a user's text is nothing but what the program wrote.

    Text that merely quotes one of the wrappers is the user's own.
    """
    content = content.strip()
    if content.startswith("<"):
        return not _WRAPPER.sub("", content).strip()
    return is_interruption(content)


def is_interruption(content: str) -> bool:
    """Say whether a text is what the program wrote when the user interrupted the model."""
    return _INTERRUPTED.fullmatch(content.strip()) is not None


def queued_prompt(attachment: Fields) -> Json | None:
    """Return what the user typed while the agent worked: text or content blocks; else None."""
    if attachment.get("type") != "queued_command" or attachment.get("isMeta") is True:
        return None
    origin = attachment.get("origin")
    is_human = not isinstance(origin, dict) or origin.get("kind") == "human"
    if attachment.get("commandMode", "prompt") != "prompt" or not is_human:
        return None
    return attachment.get("prompt")


def attachment_text(attachment: Fields) -> str:
    """Return what an attachment record says, as text; its compact JSON if that is not known.

    Empty when it says nothing: a reminder of no tasks.
    """
    if attachment.get("content") == []:
        return ""
    for reading in (_file_text, _plain_text, _listing):
        found = reading(attachment)
        if found is not None:
            return found
    return stored_json.text(attachment)


def attached_files(attachment: Fields) -> tuple[Attachment, ...]:
    """Return the picture that an attachment record holds.

    Raises:
        SurprisingShapeError: if it is not base64.
    """
    file = _file(attachment)
    data = text(file, "base64")
    if data is None:
        return ()
    return (decoded(data, text(file, "type") or "application/octet-stream", _path(attachment)),)


def _file(attachment: Fields) -> dict[str, Any]:
    content = attachment.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    return file if isinstance(file, dict) else {}


def _path(attachment: Fields) -> str | None:
    return text(attachment, "displayPath") or text(attachment, "filename")


def _file_text(attachment: Fields) -> str | None:
    """Return a file that was put into the conversation, below its path."""
    path, file = _path(attachment), _file(attachment)
    if path is None or not file:
        return None
    content = text(file, "content")
    return path if content is None else f"{path}\n\n{content}"


def _plain_text(attachment: Fields) -> str | None:
    return text(attachment, "content")


def _listing(attachment: Fields) -> str | None:
    """Return a list of what has become available, a line each."""
    lines = attachment.get("addedLines")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return None
    return "\n".join(lines) if lines and not attachment.get("removedTypes") else None
