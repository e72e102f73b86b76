"""Which sessions were deleted while an import tells of them: the rest of them is left out.

Written on, such a session would come back without its beginning.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from toolfold.ingest import identity
from toolfold.ingest.batch import Batch, SessionBatch
from toolfold.ingest.columns import Columns


class Written(NamedTuple):
    """A session that an import wrote to: its id, and what tells it from one of the same id."""

    session_id: str
    incarnation: str


@dataclass(frozen=True, slots=True)
class Met:
    """The sessions that an import has met in its transactions, by the ids that its batches give.

    `written` are those that it wrote to, `deleted` those that were deleted since.
    `lacks_beginnings` says that a session which is not stored was begun by an earlier import, as
    far as is known, so that this one does not tell its beginning.
    """

    written: Mapping[str, Written] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    lacks_beginnings: bool = False

    def after(self, written: Mapping[str, Written], deleted: frozenset[str]) -> "Met":
        """Return the same and what another transaction met."""
        return replace(self, written={**self.written, **written}, deleted=self.deleted | deleted)

    def session_id(self, given_id: str) -> str:
        """Return the id of the session that a batch gives this one."""
        written = self.written.get(given_id)
        return given_id if written is None else written.session_id


NOTHING = Met()

Stored = Callable[[SessionBatch], Columns | None]
"""Returns the row of the session that is meant, locked; None if there is none."""


def deleted(batch: Batch, met: Met, stored: Stored) -> frozenset[str]:
    """Return the ids of the batch's sessions that were deleted since they were met.

    What such a session has started since is as little wanted.
    """
    ids = {one.identity.id for one in batch.sessions.values()}
    gone = set(met.deleted)
    gone |= {one.identity.id for one in batch.sessions.values() if _is_gone(one, met, stored)}
    for one in batch.sessions.values():
        parent = one.said.get("parent_source_session")
        if parent is None:
            continue
        source_format = one.identity.source_format or batch.format
        if identity.of_source(source_format, parent).id in gone and stored(one) is None:
            gone.add(one.identity.id)
    return frozenset(gone & ids)


def _is_gone(one: SessionBatch, met: Met, stored: Stored) -> bool:
    written = met.written.get(one.identity.id)
    if written is None:
        return met.lacks_beginnings and stored(one) is None
    row = stored(one)
    return row is None or row["incarnation"] != written.incarnation
