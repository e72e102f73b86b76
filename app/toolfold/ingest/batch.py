"""Batches: what one transaction writes, prepared so that only the database is left to ask."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from toolfold.ingest.columns import Columns
from toolfold.ingest.identity import Identity
from toolfold.store.recording.content import Content
from toolfold.store.recording.rows import Values


@dataclass(slots=True)
class Told:
    """A message as it was told, and what updates in the same batch say of it on top."""

    columns: Columns
    attachments: list[Values]
    patch: Columns = field(default_factory=dict)


@dataclass(slots=True)
class Patch:
    """What updates say of a message that the batch does not tell.

    It is found by its tool call, or, if that is None, by its client id.
    """

    tool_call_id: str | None
    client_id: str
    columns: Columns


@dataclass(slots=True)
class SessionBatch:
    """What a batch says of one session: `said` of its own columns, `items` of its messages."""

    identity: Identity
    said: Columns = field(default_factory=dict)
    items: list[Told | Patch] = field(default_factory=list)
    told: dict[str, Told] = field(default_factory=dict)
    calls: dict[str, Told | Patch] = field(default_factory=dict)
    """The items again, by client id and by tool call id; of several calls of one id the latest."""
    live_at: str | None = None
    """When it came, if it came while it happened: the session's last change, if it changes it."""


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record to be kept raw: the `position`-th of its line."""

    line: int
    position: int
    reason: str
    raw: bytes


class Problem(NamedTuple):
    """Something worth telling whoever imports: its line, if it has one, and what it is."""

    line: int | None
    reason: str


@dataclass(slots=True)
class Batch:
    """What one transaction writes. `repaired` counts what was mended on the way here."""

    format: str
    sessions: dict[str, SessionBatch] = field(default_factory=dict)
    contents: dict[bytes, Content] = field(default_factory=dict)
    records: list[RawRecord] = field(default_factory=list)
    repaired: int = 0
    problems: list[Problem] = field(default_factory=list)

    def without(self, session_ids: Collection[str]) -> "Batch":
        """Return the same batch but for sessions that have one of these ids."""
        kept = {
            name: one for name, one in self.sessions.items() if one.identity.id not in session_ids
        }
        return replace(self, sessions=kept)
