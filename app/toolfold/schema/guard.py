"""The default guard: what a bulk query may read, decided from sizes before anything is read.

Compact mode follows from a query's shape; this covers the queries that do select contents, in
bulk. One ledger per operation holds two budgets of stored bytes. A decision is synchronous,
therefore atomic among resolvers; it is made once per place in the response, and what it
refuses is never read.
"""

import enum
from collections.abc import Hashable
from dataclasses import dataclass, field

from toolfold.errors import ContentBudgetError, TooManyRowsError
from toolfold.settings import Settings


class OmissionReason(enum.StrEnum):
    """Which of the two budgets withheld a heavy field."""

    COMPACT_MODE = "compact_mode"
    BUDGET_EXCEEDED = "budget_exceeded"


@dataclass(frozen=True, slots=True)
class Access:
    """How the heavy fields of an object may be read, from where it stands in the response.

    `bulk` below any list; `compact` where the compact budget applies; `strict` where the query
    asked for everything with an explicit `compact: false`, so that a refusal is an error.
    """

    bulk: bool
    compact: bool
    strict: bool


_COPIES_OF_A_PART = 2
"""A slice is shown as text and as base64."""

SINGLE = Access(bulk=False, compact=False, strict=False)
"""Of an object reached by its own id."""


def bulk_access(*, compact: bool | None, default: bool) -> Access:
    """Return the access below a list whose `compact` argument is this."""
    return Access(
        bulk=True, compact=default if compact is None else compact, strict=compact is False
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the heavy field of `size` stored bytes at one place is read, and if not, why.

    `reason` and `limit` are of a refusal; an admission has neither.
    """

    size: int
    reason: OmissionReason | None = None
    limit: int = 0

    @property
    def admitted(self) -> bool:
        """Whether it is read."""
        return self.reason is None


@dataclass(slots=True)
class Ledger:
    """The bytes and rows of one operation, or of one event of a subscription."""

    settings: Settings
    compact_used: int = 0
    hard_used: int = 0
    rows_used: int = 0
    requested_bytes: int = 0
    delivered_bytes: int = 0
    omitted_count: int = 0
    heavy_asked: bool = False
    _part_served: bool = False
    _decisions: dict[Hashable, Decision] = field(default_factory=dict)
    _charged: set[Hashable] = field(default_factory=set)

    def admit(self, place: Hashable, size: int, copies: int, access: Access) -> Decision:
        """Decide on a heavy field of `size` stored bytes that the response repeats `copies` times.

        First fit in the order of calls, and the same answer each time for one place.
        """
        decision = self._decisions.get(place)
        if decision is None:
            decision = self._decide(size, size * copies, access)
            self._decisions[place] = decision
            self.requested_bytes += size * copies
            if decision.admitted:
                self.delivered_bytes += size * copies
            else:
                self.omitted_count += 1
        return decision

    def admit_short_text(self, place: Hashable, size: int, copies: int) -> Decision:
        """Decide on a text too short for the compact budget, which counts as no heavy field."""
        decision = self._decisions.get(place)
        if decision is None:
            uncompacted = Access(bulk=True, compact=False, strict=False)
            decision = self._decide(size, size * copies, uncompacted)
            self._decisions[place] = decision
        return decision

    def charge_part(self, size: int, access: Access, copies: int = 1) -> None:
        """Charge a slice, lines or matches of `size` bytes, shown `copies` times, to the budget.

        The first part under an object reached by its own id is served however little is left,
        as text and as base64 if both are asked for.

        Raises:
            ContentBudgetError: if it does not fit.
        """
        charge = size * copies
        fits = self.hard_used + charge <= self.settings.content_budget_bytes
        if not fits and (access.bulk or self._part_served or copies > _COPIES_OF_A_PART):
            raise self.refusal(size)
        self._part_served |= not access.bulk
        self.hard_used += charge

    def charge_rows(self, count: int, place: Hashable = None) -> None:
        """Charge a page of up to `count` rows before it is read, or the blocks of a content.

        What is charged for a place is charged once.

        Raises:
            TooManyRowsError: if the operation's rows do not suffice.
        """
        if place is not None and place in self._charged:
            return
        if self.rows_used + count > self.settings.max_rows:
            raise TooManyRowsError(
                f"{count} rows more would take the operation over its {self.settings.max_rows}: "
                "ask for smaller pages.",
                max_rows=self.settings.max_rows,
            )
        self.rows_used += count
        if place is not None:
            self._charged.add(place)

    def refusal(self, size: int) -> ContentBudgetError:
        """Return the error of a field of `size` bytes that does not fit the hard budget."""
        budget = self.settings.content_budget_bytes
        return ContentBudgetError(
            f"{size} bytes do not fit what is left of this operation's {budget}: read them by "
            "slice or by URL, or in an operation of their own.",
            size=size,
            budget_bytes=budget,
            used_bytes=self.hard_used,
        )

    def _decide(self, size: int, charge: int, access: Access) -> Decision:
        if self.hard_used + charge > self.settings.content_budget_bytes:
            limit = self.settings.content_budget_bytes
            return Decision(size, OmissionReason.BUDGET_EXCEEDED, limit)
        if access.compact and access.bulk:
            limit = self.settings.compact_budget_bytes
            if self.compact_used + charge > limit:
                return Decision(size, OmissionReason.COMPACT_MODE, limit)
            self.compact_used += charge
        self.hard_used += charge
        return Decision(size)
