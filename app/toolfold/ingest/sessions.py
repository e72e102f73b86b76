"""A session's own row: made, and kept true to its messages and to what is said of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolfold.ingest.columns import Columns
from toolfold.ingest.identity import Identity
from toolfold.ingest.messages import Messages
from toolfold.settings import MAX_BIG_INT
from toolfold.store.recording.message import USAGE
from toolfold.transcript import MessageRole, SessionStatus

MAX_TITLE_CHARACTERS = 80


def new_row(project_id: str, identity: Identity, said: Columns, *, agent: str) -> Columns:
    """Return the row of a session without messages; its times are still to be set."""
    return {
        "project_id": project_id,
        "id": identity.id,
        "title": None,
        "agent": agent,
        "status": SessionStatus.COMPLETED.value,
        "cwd": None,
        "git_branch": None,
        "source_format": identity.source_format,
        "source_session": identity.source_session,
        "parent_source_session": None,
        "parent_id": None,
        "parent_tool_call_id": None,
        "head_sequence": 0,
        "head_revision": 0,
        "message_count": 0,
        "tool_call_count": 0,
        "content_size": 0,
        **dict.fromkeys(USAGE),
        **said,
    }


def updated(
    session: Mapping[str, Any], said: Columns, messages: Messages, *, base_time: str, latest: str
) -> Columns:
    """Return a session's row after what is said of it and what became of its messages.

    `base_time` is its time if no other is told, `latest` the last that it can have. The sums of
    usage may have to be made anew: see `has_unsure_usage`.
    """
    times = _times(session, said, messages, base_time=base_time)
    # A message of the next century is kept as it is, but must not lead all lists until then.
    times = {name: min(time, latest) for name, time in times.items()}
    row = dict(session) | said | times
    row["cwd"] = session["cwd"] or said.get("cwd")
    row["title"] = said.get("title") or _title(session["title"], messages)
    row["head_sequence"] = row["message_count"] = messages.head_sequence
    row["head_revision"] = messages.head_revision
    rows = [*messages.added, *messages.changed]
    before = [old for old in map(messages.before, messages.changed) if old is not None]
    row["tool_call_count"] += _calls(rows) - _calls(before)
    row["content_size"] += _content_size(rows) - _content_size(before)
    for name in USAGE:
        row[name] = _sum_of_usage(row[name], rows, before, name)
    return row


def has_unsure_usage(session: Mapping[str, Any], messages: Messages) -> bool:
    """Say whether what changed does not tell the sums of usage, so that all messages must.

    It does not if a message has no usage any more, as then perhaps none has; nor if a sum was as
    high as sums go, as then it may have been higher.
    """
    is_lost = any(
        row[USAGE[0]] is None and (before := messages.before(row)) and before[USAGE[0]] is not None
        for row in messages.changed
    )
    is_changed = bool(messages.changed)
    return is_lost or (is_changed and any(session[name] == MAX_BIG_INT for name in USAGE))


def _times(
    session: Mapping[str, Any], said: Columns, messages: Messages, *, base_time: str
) -> dict[str, str]:
    """Return the earliest and the latest time that the session, its messages or calls have."""
    rows = [*messages.added, *messages.changed]
    created = [row["created_at"] for row in messages.added]
    called = [row[name] for row in rows for name in ("tool_started_at", "tool_ended_at")]
    starts = [session.get("created_at"), said.get("created_at"), *created]
    ends = [session.get("updated_at"), said.get("updated_at"), *created, *called]
    created_at = min(filter(None, starts), default=base_time)
    return {"created_at": created_at, "updated_at": max([created_at, *filter(None, ends)])}


def _title(title: str | None, messages: Messages) -> str | None:
    """Return the title that a session has: its own, else its first user's first line.

    A title that was taken from a message which has grown since grows with it.
    """
    for row in messages.changed:
        before = messages.before(row)
        if before is not None and title is not None and _first_line(before) == title:
            return _first_line(row)
    if title is None:
        return next(filter(None, map(_first_line, messages.added)), None)
    return title


def _first_line(row: Columns) -> str | None:
    """Return the first line of a user's own text, None if the message has none."""
    if row["role"] != MessageRole.USER or row["origin"] == "system":
        return None
    text = row["content_preview"] if row["content"] is None else row["content"]
    lines = (line.strip() for line in text.splitlines())
    return next((_shortened(line) for line in lines if line), None)


def _shortened(line: str) -> str:
    """Return the line, or as many of its whole words as a title holds, and an ellipsis."""
    if len(line) <= MAX_TITLE_CHARACTERS:
        return line
    words = line[:MAX_TITLE_CHARACTERS].rpartition(" ")[0].rstrip()
    # A long word, and a script that has no spaces, end anywhere.
    is_long_word = len(words) < MAX_TITLE_CHARACTERS // 2
    return (line[: MAX_TITLE_CHARACTERS - 1] if is_long_word else words) + "\N{HORIZONTAL ELLIPSIS}"


def _calls(rows: Iterable[Columns]) -> int:
    return sum(row["tool_call_id"] is not None for row in rows)


def _content_size(rows: Iterable[Columns]) -> int:
    return sum(row["tool_content_size"] or 0 for row in rows)


def _sum_of_usage(
    stored: int | None, rows: Iterable[Columns], before: Iterable[Columns], name: str
) -> int | None:
    gained: list[int] = [row[name] for row in rows if row[name] is not None]
    lost: list[int] = [row[name] for row in before if row[name] is not None]
    if stored is None and not gained:
        return None
    return min((stored or 0) + sum(gained) - sum(lost), MAX_BIG_INT)
