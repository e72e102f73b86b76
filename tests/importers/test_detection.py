import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.importers import claude_lines
from toolfold.importers import Detection, detect

CORPUS = os.environ.get("TOOLFOLD_CORPUS")


def _written(path: Path, *values: Any, indent: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(v, indent=indent) for v in values), encoding="utf-8")
    return path


def _name(path: Path) -> str:
    """Return what a file was detected as: an importer's name, a format's, or neither."""
    detection = detect(path)
    if detection.importer is not None:
        return detection.importer.name
    return detection.unsupported or ("companion" if detection.companion else "no transcript")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("claude-code", [claude_lines.user("u1", "hi")]),
        ("claude-code", [{"type": "mode", "mode": "normal", "sessionId": "s"}]),
        ("claude-code", [{"type": "summary", "summary": "A talk", "leafUuid": "u"}]),
        ("acp", [{"jsonrpc": "2.0", "id": 0, "method": "session/new", "params": {"cwd": "/"}}]),
        (
            "acp",
            [
                {
                    "sessionId": "s",
                    "update": {
                        "sessionUpdate": "agent_message_chunk",
                        "content": {"type": "text", "text": "hi"},
                    },
                }
            ],
        ),
        ("toolfold", [{"toolfold": 1, "session": {"id": "x"}}]),
        ("Codex rollout", [{"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}}]),
        ("Codex rollout", [{"id": "x", "timestamp": "t", "instructions": None}]),
        ("Codex exec", [{"type": "thread.started", "thread_id": "x"}]),
        ("Gemini CLI session", [{"sessionId": "s", "projectHash": "h", "messages": []}]),
        ("opencode export", [{"info": {"id": "s", "projectID": "p", "directory": "/"}}]),
        ("Claude stream-json", [{"type": "system", "subtype": "init", "session_id": "s"}]),
        ("Claude stream-json", [[{"type": "user", "session_id": "s"}]]),
        (
            "Gemini stream-json",
            [{"type": "init", "timestamp": "t", "session_id": "s", "model": "m"}],
        ),
        ("OpenHands", [{"history": [{"timestamp": "t", "source": "user", "action": "message"}]}]),
        (
            "OpenHands",
            [[{"timestamp": "t", "source": "agent", "observation": "run", "content": ""}]],
        ),
        ("SWE-agent trajectory", [{"environment": "main", "trajectory": []}]),
        ("SWE-agent trajectory", [{"history": [{"role": "system", "content": "x"}]}]),
        ("Cline", [[{"ts": 1, "type": "say", "say": "text", "text": "hi"}]]),
        ("no transcript", [{"name": "package", "version": "1.0.0"}]),
        ("no transcript", [[1, 2, 3]]),
        ("no transcript", ["text"]),
    ],
)
def test_a_format_is_recognised_by_its_content(
    name: str, values: list[Any], tmp_path: Path
) -> None:
    assert _name(_written(tmp_path / "notes.txt", *values)) == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Gemini CLI session", {"sessionId": "s", "projectHash": "h", "messages": [{"id": "1"}]}),
        ("opencode export", {"info": {"id": "s", "projectID": "p", "directory": "/"}}),
        ("SWE-agent trajectory", {"environment": "main", "trajectory": [{"action": "ls"}]}),
        ("Cline", [{"ts": 1, "type": "ask", "ask": "tool", "text": "{}"}, {"ts": 2}]),
        ("no transcript", {"compilerOptions": {"strict": True}}),
    ],
)
def test_a_document_over_many_lines_is_recognised(name: str, value: Any, tmp_path: Path) -> None:
    assert _name(_written(tmp_path / "full.jsonl", value, indent=2)) == name


def test_a_document_larger_than_what_is_looked_at_is_recognised(tmp_path: Path) -> None:
    messages = [{"id": str(number), "content": ['[}\\"' * 20]} for number in range(5_000)]
    session = {"sessionId": "s", "projectHash": "h", "messages": messages}
    assert _name(_written(tmp_path / "x", session, indent=1)) == "Gemini CLI session"


def test_an_empty_or_blank_file_and_one_of_text_or_bytes_are_no_transcripts(tmp_path: Path) -> None:
    for content in (
        b"",
        b" \r\n\n",
        b"\x00" * 100,
        b"# Notes\n\n{not json}\n",
        bytes(range(256)) * 9,
    ):
        path = tmp_path / "file.jsonl"
        path.write_bytes(content)
        assert detect(path) == Detection()


def test_a_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"SQLite format 3\x00" + bytes(84))
    assert _name(path) == "SQLite database (opencode, Goose)"


def test_damage_before_the_first_whole_record_does_not_hide_the_format(tmp_path: Path) -> None:
    record = json.dumps(claude_lines.user("u1", "hi")).encode()
    for damage in (
        b"\xef\xbb\xbf",
        b"\x00\x00\x00",
        b"\r\n\n",
        b'"tail of a line"}\n',
        record[:40] + b"\n",
    ):
        path = tmp_path / "x"
        path.write_bytes(damage + record)
        assert _name(path) == "claude-code"


def test_a_first_line_of_twenty_megabytes_is_recognised(tmp_path: Path) -> None:
    path = claude_lines.write(tmp_path / "x", [claude_lines.user("u1", "x" * 20_000_000)])
    assert _name(path) == "claude-code"


def test_a_tool_result_of_a_session_is_its_companion_even_if_it_is_a_transcript(
    tmp_path: Path,
) -> None:
    session = claude_lines.write(tmp_path / "5e55.jsonl", [claude_lines.user("u1", "hi")])
    output = claude_lines.write(
        tmp_path / "5e55/tool-results/b1.txt", [claude_lines.user("u2", "")]
    )
    assert detect(output) == Detection(companion=True)
    session.unlink()
    assert _name(output) == "claude-code"


def test_a_file_in_a_folder_called_tool_results_needs_its_session(tmp_path: Path) -> None:
    path = tmp_path / "5e55" / "tool-results" / "b1.txt"
    path.parent.mkdir(parents=True)
    path.write_text("output", encoding="utf-8")
    assert detect(path) == Detection()
    _written(tmp_path / "5e55.jsonl", {"name": "package"})
    assert detect(path) == Detection()


def test_what_is_recorded_of_a_sub_agent_is_a_companion(tmp_path: Path) -> None:
    meta = {"agentType": "general-purpose", "description": "Survey", "toolUseId": "toolu_1"}
    assert _name(_written(tmp_path / "agent-a1.meta.json", meta)) == "companion"


def test_a_file_that_cannot_be_read_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        detect(tmp_path / "absent")


@pytest.mark.skipif(CORPUS is None, reason="TOOLFOLD_CORPUS names no folder of transcripts")
def test_every_file_of_the_corpus_is_told_apart() -> None:
    root = Path(CORPUS or "")
    found = {str(path.relative_to(root)): _name(path) for path in root.rglob("*") if path.is_file()}
    expected = {path: _expected(path) for path in found}
    assert found == expected


def _expected(path: str) -> str:
    """Return what a file of the corpus is, by the folder that its collector put it into."""
    agent = path.split("/")[1] if "/" in path else ""
    if agent == "claude" and not path.endswith(".jsonl"):
        return "companion"
    return {
        "acp": "acp",
        "claude": "claude-code",
        "claude-stream": "Claude stream-json",
        "codex": "Codex rollout",
        "gemini": "Gemini CLI session",
        "gemini-stream": "Gemini stream-json",
        "opencode": "opencode export",
        "openhands": "OpenHands",
        "sweagent": "SWE-agent trajectory",
    }.get(agent, "no transcript")
