"""What must hold of any log of ACP: the three here and, where there is one, a corpus's."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.importers.acp_log import Store
from toolfold.importers import detect
from toolfold.transcript import Json, MessageRole, ToolCall


def logs() -> list[Path]:
    """Return the logs here and, where there is a corpus, all of its logs of ACP."""
    corpus = os.environ.get("TOOLFOLD_CORPUS")
    files = (path for path in Path(corpus).rglob("*") if path.is_file()) if corpus else ()
    found = [path for path in files if (one := detect(path).importer) and one.name == "acp"]
    return [*(Path(__file__).parent / "data").glob("acp_*.ndjson"), *found]


def read(path: Path) -> Store:
    return Store().read_lines(path.read_bytes().splitlines(), path)


def calls_of(store: Store) -> list[ToolCall]:
    return [call for session in store.messages for call in store.calls(session).values()]


def updates(path: Path) -> list[Json]:
    lines = path.read_text(encoding="utf-8").splitlines()
    messages = [json.loads(line) for line in lines]
    return [one["params"]["update"] for one in messages if one.get("method") == "session/update"]


@pytest.mark.parametrize("path", logs(), ids=lambda path: path.name)
def test_every_chunk_reaches_exactly_one_message(path: Path) -> None:
    store = read(path)
    for kind, role in (
        ("agent_message_chunk", MessageRole.ASSISTANT),
        ("agent_thought_chunk", MessageRole.THINKING),
    ):
        chunks = [one["content"]["text"] for one in updates(path) if one["sessionUpdate"] == kind]
        messages = [one for of in store.messages.values() for one in of if one.role is role]
        assert "".join(one.content for one in messages) == "".join(chunks)


@pytest.mark.parametrize("path", logs(), ids=lambda path: path.name)
def test_every_tool_call_is_one_message_with_its_last_status(path: Path) -> None:
    last: dict[str, str] = {}
    for one in updates(path):
        if "toolCallId" in one:
            last[one["toolCallId"]] = one.get("status") or last.get(one["toolCallId"], "pending")
    calls = calls_of(read(path))
    assert Counter(one.tool_call_id for one in calls) == dict.fromkeys(last, 1)
    assert {one.tool_call_id: one.status.value for one in calls} == last


@pytest.mark.parametrize("path", logs(), ids=lambda path: path.name)
def test_every_piece_of_terminal_output_is_in_its_call(path: Path) -> None:
    printed: dict[str, str] = {}
    for one in updates(path):
        delta = one.get("_meta", {}).get("terminal_output_delta")
        if delta:
            printed[one["toolCallId"]] = printed.get(one["toolCallId"], "") + delta["data"]
    calls = {one.tool_call_id: one for one in calls_of(read(path))}
    for call_id, output in printed.items():
        (block,) = calls[call_id].content
        assert block["output"] == output
