"""Claude Code's importer on every such file of the corpus, against an independent count."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.importers.claude_lines import parse
from toolfold.importers import detect
from toolfold.transcript import (
    Entry,
    Message,
    MessageUsage,
    Record,
    Repair,
    ToolCallUpdate,
    ToolStatus,
    Usage,
)

CORPUS = os.environ.get("TOOLFOLD_CORPUS")


def _files() -> list[Path]:
    paths = sorted(Path(CORPUS).rglob("*.jsonl")) if CORPUS else []
    return [path for path in paths if (found := detect(path).importer) and "claude" in found.name]


def _blocks(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the content blocks of one kind, read as plainly as can be."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    contents = [record["message"]["content"] for record in records if "message" in record]
    return [
        block
        for content in contents
        if isinstance(content, list)
        for block in content
        if block["type"] == kind
    ]


def _tokens(path: Path) -> list[int]:
    """Return the sums of each response's last usage."""
    last: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line).get("message", {})
        if "usage" in message:
            last[message["id"]] = message["usage"]
    keys = (
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    )
    return [sum(usage.get(key) or 0 for usage in last.values()) for key in keys]


def _told_tokens(told: list[Entry]) -> list[int]:
    usages: dict[tuple[str | None, str], Usage | None] = {}
    for entry in told:
        if isinstance(entry.value, MessageUsage | Message):
            usages[entry.session, entry.value.client_id] = entry.value.usage
    counted = [usage for usage in usages.values() if usage is not None]
    return [
        sum(usage.input_tokens for usage in counted),
        sum(usage.output_tokens for usage in counted),
        sum(usage.cache_read_tokens for usage in counted),
        sum(usage.cache_creation_tokens for usage in counted),
    ]


@pytest.mark.skipif(CORPUS is None, reason="TOOLFOLD_CORPUS names no folder of transcripts")
def test_the_corpus_has_files_of_claude_code() -> None:
    assert len(_files()) >= 11


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.name[:20])
def test_every_call_and_every_result_and_every_token_is_told_once(path: Path) -> None:
    told = parse(path)
    calls = Counter(
        entry.value.tool_call.tool_call_id
        for entry in told
        if isinstance(entry.value, Message) and entry.value.tool_call
    )
    assert calls == Counter(block["id"] for block in _blocks(path, "tool_use"))
    results = Counter(
        entry.value.tool_call_id
        for entry in told
        if isinstance(entry.value, ToolCallUpdate)
        if entry.value.status in {ToolStatus.COMPLETED, ToolStatus.FAILED}
    )
    assert results == Counter(block["tool_use_id"] for block in _blocks(path, "tool_result"))
    assert _told_tokens(told) == _tokens(path)
    assert [entry for entry in told if isinstance(entry.value, Record | Repair)] == []


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.name[:20])
def test_lines_never_fall_and_ids_are_unique_in_their_session(path: Path) -> None:
    told = parse(path)
    lines = [entry.line for entry in told if entry.line is not None]
    assert lines == sorted(lines)
    assert all(entry.line is None for entry in told[len(lines) :])
    ids = Counter(
        (entry.session, entry.value.client_id) for entry in told if isinstance(entry.value, Message)
    )
    assert set(ids.values()) == {1}
    assert told == parse(path)
