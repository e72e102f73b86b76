"""What an import has come to so far, counted over its transactions."""

from dataclasses import dataclass, field

from toolfold.ingest import deletion
from toolfold.ingest.batch import Batch, Problem
from toolfold.ingest.deletion import Met
from toolfold.ingest.writing import Counts, SessionCounts

MAX_PROBLEMS = 1_000
"""How many problems are told; their counts are complete."""


@dataclass(slots=True)
class SessionTally:
    """What an import did to one session: `head_before` is its last sequence before the import.

    `updated` are the sequences of messages that were there before and changed, `repeated` counts
    those that were there when they were told.
    """

    head_before: int
    head_sequence: int
    head_revision: int
    added: int = 0
    repeated: int = 0
    updated: set[int] = field(default_factory=set)
    refusal: str | None = None

    @property
    def skipped(self) -> int:
        """How many messages were there before, and are as they were."""
        return max(0, self.repeated - len(self.updated))

    def count(self, counts: SessionCounts) -> None:
        """Count a transaction."""
        self.head_sequence = counts.head_sequence
        self.head_revision = counts.head_revision
        self.added += counts.added
        self.repeated += counts.repeated
        # What this import has added itself is not an update when it changes.
        self.updated.update(n for n in counts.updated if n <= self.head_before)


@dataclass(slots=True)
class Tally:
    """Sums over the transactions of one import; `sessions` are in order of their first mention.

    `passed_by` counts messages that need not be told, because they were imported before. `deleted`
    are the ids of sessions that were left out, as they were deleted while they were told; they are
    not among `sessions`. `met` is what the next transaction is to know.
    """

    passed_by: int = 0
    kept_raw: int = 0
    repaired: int = 0
    problems: list[Problem] = field(default_factory=list)
    sessions: dict[str, SessionTally] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    met: Met = deletion.NOTHING

    @property
    def added(self) -> int:
        """How many messages are new."""
        return sum(session.added for session in self.sessions.values())

    @property
    def updated(self) -> int:
        """How many messages that were there before changed."""
        return sum(len(session.updated) for session in self.sessions.values())

    @property
    def skipped(self) -> int:
        """How many messages were there before, and are as they were."""
        repeated = sum(session.repeated for session in self.sessions.values())
        return max(0, repeated + self.passed_by - self.updated)

    def take(self, batch: Batch) -> None:
        """Count what reading a batch brought, written or not."""
        self.repaired += batch.repaired
        self.kept_raw += len(batch.records)
        self._tell(batch.problems)

    def count(self, counts: Counts) -> None:
        """Count a transaction."""
        self.met = counts.met
        self._leave_out({counts.met.session_id(given_id) for given_id in counts.deleted})
        for one in counts.sessions:
            session = self.sessions.setdefault(
                one.session_id,
                SessionTally(one.head_before, one.head_sequence, one.head_revision),
            )
            session.count(one)
            if one.refusal is not None and session.refusal is None:
                session.refusal = one.refusal.message
                self._tell([Problem(None, one.refusal.message)])

    def _leave_out(self, session_ids: set[str]) -> None:
        for session_id in sorted(session_ids - self.deleted):
            self.sessions.pop(session_id, None)
            reason = f"Session {session_id} was deleted meanwhile; the rest of it is left out."
            self._tell([Problem(None, reason)])
        self.deleted |= session_ids

    def _tell(self, problems: list[Problem]) -> None:
        self.problems += problems[: MAX_PROBLEMS - len(self.problems)]
