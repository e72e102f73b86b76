"""The records of a Claude Code transcript: their types, and what those of a conversation carry.

The format is called internal by its maker and grows with every version; the types below were
seen in versions 1.0 to 2.1.185. A type that is not here is kept raw.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from toolfold.transcript import Json

Fields = dict[str, Any]
"""A JSON object of a transcript."""

CONVERSATION = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Records that stand in a session's tree: each has an envelope."""

TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
"""Records that name a session, with the key of the name, the most telling last."""

BOOKKEEPING = frozenset(
    {
        "agent-name",
        "agent-setting",
        "bridge-session",
        "file-history-delta",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "queue-operation",
        "worktree-state",
    }
)
"""Records of the program's own state: understood, and nothing that a session's reader misses."""

_OWN_KEYS = ("sessionId", "leafUuid", "messageId")


class SurprisingShapeError(ValueError):
    """A record of a known type is not built as such records are."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every record of a conversation carries.

    `session` is the id that the agent gave; sub-agents carry their parent's, and `agent`, their
    own, unless their record stands in the parent's file, as before version 2.0.
    """

    session: str
    uuid: str
    parent: str | None
    agent: str | None
    sidechain: bool
    time: datetime | None
    cwd: str | None
    git_branch: str | None


def accepts(sample: Sequence[Json]) -> bool:
    """Say whether one of a file's first values is a record of Claude Code."""
    return any(map(is_record, sample))


def is_record(value: Json) -> bool:
    """Say whether `value` is a record of a known type."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    kind = value["type"]
    if kind in CONVERSATION:
        return isinstance(value.get("uuid"), str) and isinstance(value.get("sessionId"), str)
    return (kind in BOOKKEEPING or kind in TITLES) and any(
        isinstance(value.get(key), str) for key in _OWN_KEYS
    )


def envelope(record: Fields) -> Envelope:
    """Return a conversation record's envelope.

    Raises:
        SurprisingShapeError: if it says neither what it is nor where it belongs.
    """
    session, uuid = record.get("sessionId"), record.get("uuid")
    if not isinstance(session, str) or not isinstance(uuid, str):
        raise SurprisingShapeError("no session or no id")
    return Envelope(
        session=session,
        uuid=uuid,
        parent=text(record, "parentUuid"),
        agent=text(record, "agentId"),
        sidechain=record.get("isSidechain") is True,
        time=instant(record.get("timestamp")),
        cwd=text(record, "cwd"),
        git_branch=text(record, "gitBranch"),
    )


def text(fields: Fields, key: str) -> str | None:
    """Return the text at `key`; None when there is none, or it is empty."""
    value = fields.get(key)
    return (value or None) if isinstance(value, str) else None


def fields(parent: Fields, key: str) -> Fields:
    """Return the object at `key`.

    Raises:
        SurprisingShapeError: if there is no object.
    """
    value = parent.get(key)
    if not isinstance(value, dict):
        raise SurprisingShapeError(f"no object at {key}")
    return value


def blocks(message: Fields) -> list[Json]:
    """Return a message's content blocks; text alone is one text block.

    Raises:
        SurprisingShapeError: if the content is neither text nor a list.
    """
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise SurprisingShapeError("content is neither text nor a list")
    return content


def block_type(block: Json) -> str:
    """Return the type of a content block; empty for what is none."""
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def instant(value: Json) -> datetime | None:
    """Return the time that an ISO 8601 text names, taken as UTC if it names no zone."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
