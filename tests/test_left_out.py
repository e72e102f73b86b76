from types import SimpleNamespace
from typing import Any

import pytest

from tests.left_out import leave_out, line


def _config() -> Any:
    hook = SimpleNamespace(pytest_deselected=lambda items: None)  # noqa: ARG005 (pytest's)
    return SimpleNamespace(stash=pytest.Stash(), hook=hook)


def test_one_line_tells_all_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    config = _config()
    items: list[Any] = [*"abcdef"]
    assert line(config) is None
    leave_out(config, items, items[1:3], "PostgreSQL (refused)")
    leave_out(config, items, items[2:3], "Node 20 (npm)")
    assert items == ["a", "d", "f"]
    assert line(config) == (
        "Left out: 3 tests: 2 that need PostgreSQL (refused), 1 that need Node 20 (npm)."
    )


def test_in_ci_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    items: list[Any] = [*"ab"]
    with pytest.raises(pytest.UsageError, match="1 that need Linux"):
        leave_out(_config(), items, items[:1], "Linux")
