"""Builds lines of a Claude Code transcript, as small as its importer allows, and reads them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolfold.importers import Transcript, claude_code
from toolfold.importers.jsonl import LineReader
from toolfold.transcript import Entry, Value

SESSION = "5e55"
Fields = dict[str, Any]


def user(uuid: str, content: Any, **more: Any) -> Fields:
    """Return a user's record; `content` is text or blocks."""
    return _record("user", uuid, message={"role": "user", "content": content}, **more)


def assistant(uuid: str, *blocks: Any, response: str = "msg_1", **more: Any) -> Fields:
    """Return one record of a model's response."""
    message: Fields = {"id": response, "role": "assistant", "model": "claude-x"}
    message["content"] = list(blocks)
    for key in ("usage", "model"):
        if key in more:
            message[key] = more.pop(key)
    return _record("assistant", uuid, message=message, **more)


def text(content: str) -> Fields:
    """Return a text block."""
    return {"type": "text", "text": content}


def thinking(content: str) -> Fields:
    """Return a thinking block."""
    return {"type": "thinking", "thinking": content, "signature": "c2ln"}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> Fields:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(uuid: str, call_id: str, content: Any, **more: Any) -> Fields:
    """Return the record of a tool's result; `own_copy` is its `toolUseResult`."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if "is_error" in more:
        block["is_error"] = more.pop("is_error")
    if "own_copy" in more:
        more["toolUseResult"] = more.pop("own_copy")
    return user(uuid, [block], **more)


def system(uuid: str, **more: Any) -> Fields:
    """Return a system record."""
    return _record("system", uuid, **more)


def attachment(uuid: str, **attached: Any) -> Fields:
    """Return an attachment record."""
    return _record("attachment", uuid, attachment=attached)


def usage(
    input_tokens: int, output_tokens: int, cache_read: int = 0, cache_creation: int = 0
) -> Fields:
    """Return a response's usage as the Messages API writes it."""
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_read_input_tokens": cache_read,
        "cache_creation_input_tokens": cache_creation,
        "service_tier": "standard",
    }


def write(path: Path, records: Sequence[Fields | bytes]) -> Path:
    """Write records as lines; bytes are a line as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        record if isinstance(record, bytes) else json.dumps(record, separators=(",", ":")).encode()
        for record in records
    ]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def parse(path: Path) -> list[Entry]:
    """Return all entries of a transcript."""
    return list(claude_code.parse(Transcript(path, LineReader(path))))


def entries(folder: Path, *records: Fields | bytes) -> list[Entry]:
    """Write a session's file into `folder` and return its entries."""
    return parse(write(folder / f"{SESSION}.jsonl", records))


def values(folder: Path, *records: Fields | bytes) -> list[Value]:
    """Return the values of a session's records after the session itself."""
    return [entry.value for entry in entries(folder, *records)][1:]


def _record(kind: str, uuid: str, **more: Any) -> Fields:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "uuid": uuid,
        "sessionId": SESSION,
        "timestamp": "2026-11-30T17:09:47.923Z",
        "cwd": "/home/sam",
        "gitBranch": "main",
        **more,
    }
