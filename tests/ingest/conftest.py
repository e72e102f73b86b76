"""Fixtures for the tests of ingest."""

import pytest


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file of a few thousand lines take several batches."""
    for module in ("gathering", "reading", "told"):
        monkeypatch.setattr(f"toolfold.ingest.{module}.MAX_ENTRIES", 1_000)
