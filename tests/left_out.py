"""Tests that are left out where this machine lacks what they need, and the line that says so."""

import os

import pytest

_LEFT_OUT = pytest.StashKey[dict[str, int]]()


def leave_out(
    config: pytest.Config, items: list[pytest.Item], lacking: list[pytest.Item], what: str
) -> None:
    """Take the tests `lacking` out of `items`; `what` is what they need.

    Raises:
        pytest.UsageError: in CI, where nothing is left out.
    """
    config.stash.setdefault(_LEFT_OUT, {})[what] = len(lacking)
    if os.environ.get("CI"):
        raise pytest.UsageError(f"In CI nothing is left out, yet: {line(config)}")
    config.hook.pytest_deselected(items=lacking)
    kept = set(items) - set(lacking)
    items[:] = [item for item in items if item in kept]


def line(config: pytest.Config) -> str | None:
    """Return one line for all that was left out; None if nothing was."""
    left_out = config.stash.get(_LEFT_OUT, {})
    if not left_out:
        return None
    needs = ", ".join(f"{number} that need {what}" for what, number in left_out.items())
    return f"Left out: {sum(left_out.values())} tests: {needs}."
