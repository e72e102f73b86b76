"""The ledger by itself: what is charged, and what is answered twice alike."""

import pytest

from toolfold.errors import ContentBudgetError, TooManyRowsError
from toolfold.schema.guard import SINGLE, Ledger, OmissionReason, bulk_access
from toolfold.settings import Settings

SETTINGS = Settings(
    compact_budget_bytes=4_096, content_budget_bytes=65_536, max_rows=100, max_slice_bytes=70_000
)
COMPACT = bulk_access(compact=None, default=True)
EVERYTHING = bulk_access(compact=False, default=True)


def test_an_absent_compact_means_the_servers_default() -> None:
    assert bulk_access(compact=None, default=True).compact
    assert not bulk_access(compact=None, default=False).compact
    assert not bulk_access(compact=None, default=False).strict


def test_an_explicit_compact_overrules_the_default() -> None:
    assert bulk_access(compact=True, default=False).compact
    assert EVERYTHING.strict
    assert not EVERYTHING.compact


def test_first_fit_goes_on_after_what_does_not_fit() -> None:
    ledger = Ledger(SETTINGS)
    sizes = [390, 390, 390, 390, 9_030, 880, 880]
    decisions = [ledger.admit(n, size, 1, COMPACT) for n, size in enumerate(sizes)]
    assert [d.admitted for d in decisions] == [True, True, True, True, False, True, True]
    assert decisions[4].reason is OmissionReason.COMPACT_MODE
    assert decisions[4].limit == 4_096
    assert ledger.requested_bytes == sum(sizes)
    assert ledger.delivered_bytes == sum(sizes) - 9_030
    assert ledger.omitted_count == 1


def test_one_place_is_charged_once_and_answered_alike() -> None:
    ledger = Ledger(SETTINGS)
    assert ledger.admit("place", 4_000, 1, COMPACT) is ledger.admit("place", 4_000, 1, COMPACT)
    assert ledger.hard_used == 4_000


def test_copies_in_the_response_are_each_charged() -> None:
    ledger = Ledger(SETTINGS)
    assert not ledger.admit("twice", 2_049, 2, COMPACT).admitted
    assert ledger.admit("once", 2_049, 1, COMPACT).admitted


def test_what_fits_neither_budget_names_the_hard_one() -> None:
    decision = Ledger(SETTINGS).admit("huge", 200_025, 1, COMPACT)
    assert decision.reason is OmissionReason.BUDGET_EXCEEDED
    assert decision.limit == 65_536


def test_a_single_object_is_limited_by_the_hard_budget_alone() -> None:
    ledger = Ledger(SETTINGS)
    assert ledger.admit("one", 9_030, 1, SINGLE).admitted
    assert ledger.admit("two", 60_000, 1, SINGLE).reason is OmissionReason.BUDGET_EXCEEDED


def test_short_text_uses_the_hard_budget_and_is_no_heavy_field() -> None:
    ledger = Ledger(SETTINGS)
    assert ledger.admit_short_text("text", 16_000, 1).admitted
    assert ledger.hard_used == 16_000
    assert ledger.compact_used == 0
    assert ledger.requested_bytes == 0


def test_the_first_part_of_a_single_object_is_served_however_little_is_left() -> None:
    ledger = Ledger(SETTINGS)
    ledger.admit("content", 65_000, 1, SINGLE)
    ledger.charge_part(65_536, SINGLE)
    with pytest.raises(ContentBudgetError) as refused:
        ledger.charge_part(1, SINGLE)
    assert refused.value.extensions == {
        "code": "CONTENT_BUDGET_EXCEEDED",
        "contentSize": 1,
        "budgetBytes": 65_536,
        "usedBytes": 130_536,
    }


def test_parts_in_bulk_have_no_such_grace() -> None:
    ledger = Ledger(SETTINGS)
    with pytest.raises(ContentBudgetError):
        ledger.charge_part(65_537, COMPACT)


def test_rows_are_charged_by_page() -> None:
    ledger = Ledger(SETTINGS)
    ledger.charge_rows(60)
    with pytest.raises(TooManyRowsError) as refused:
        ledger.charge_rows(41)
    assert refused.value.extensions == {"code": "TOO_MANY_ROWS", "maxRows": 100}
    ledger.charge_rows(40)
