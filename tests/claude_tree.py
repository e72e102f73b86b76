"""Writes a folder as Claude Code leaves one in `~/.claude/projects`, of any size.

The records have the shapes of version 2.1; their text is made by code. Results have the sizes of
real sessions, and stand twice in a line, as there: what the model saw, and `toolUseResult`.
"""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from toolfold.sample import output

PERSISTED_FROM_BYTES = 30_000
"""A result of at least so many bytes goes to a file in `tool-results/`."""

CWD = "/home/sam/weather"
START = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
POOL_BYTES = 2_000_000


@dataclass(slots=True)
class Tree:
    """What was written: files by purpose, all their bytes, and what an import makes of them."""

    root: Path
    transcripts: list[Path] = field(default_factory=list)
    companions: list[Path] = field(default_factory=list)
    size: int = 0
    message_count: int = 0
    tool_call_count: int = 0

    def with_all_of(self, other: "Tree", root: Path) -> "Tree":
        """Return both as one tree, below `root`."""
        return Tree(
            root,
            self.transcripts + other.transcripts,
            self.companions + other.companions,
            self.size + other.size,
            self.message_count + other.message_count,
            self.tool_call_count + other.tool_call_count,
        )


def write(root: Path, *, sessions: int, total_bytes: int, seed: int = 1) -> Tree:
    """Write `sessions` sessions of together about `total_bytes` below `root`, the same each time.

    Every third one has a sub-agent, which counts as a transcript of its own.
    """
    rng = random.Random(seed)  # noqa: S311 (the same numbers each time)
    pool = output.text(rng, POOL_BYTES, output.log_line)
    shares = [rng.lognormvariate(0, 1) for _ in range(sessions)]
    tree = Tree(root)
    for number, share in enumerate(shares):
        folder = root / f"-home-sam-weather-{number % 10}"
        own_rng = random.Random(f"{seed}/{number}")  # noqa: S311 (the same)
        session = _Session(tree, own_rng, pool, folder)
        session.write(round(total_bytes * share / sum(shares)), subagent=number % 3 == 0)
    return tree


class _Session:
    """One session's files; counts what it writes into the tree."""

    def __init__(self, tree: Tree, rng: random.Random, pool: str, folder: Path) -> None:
        self.tree = tree
        self.rng = rng
        self.pool = pool
        self.id = self._uuid()
        self.file = folder / f"{self.id}.jsonl"
        self.folder = folder / self.id
        self.now = START + timedelta(minutes=rng.randrange(40_000))
        self.parent: str | None = None
        self.agent: str | None = None

    def write(self, size: int, *, subagent: bool) -> None:
        until = self.tree.size + size
        self._write_lines(self.file, self._main(until, subagent=subagent))

    def _write_lines(self, path: Path, lines: Iterator[bytes]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for line in lines:
                file.write(line)
        self.tree.transcripts.append(path)

    def _main(self, until: int, *, subagent: bool) -> Iterator[bytes]:
        yield self._user("Make the page faster. Größer, schneller, 天気!")
        if subagent:
            yield from self._subagent()
        while self.tree.size < until:
            yield from self._turn()

    def _subagent(self) -> Iterator[bytes]:
        """Write the sub-agent's file, and yield the call that started it and its result."""
        agent = self.rng.randbytes(8).hex()
        call = self._call_id()
        prompt = {"description": "Survey", "prompt": "Survey.", "subagent_type": "Explore"}
        yield self._assistant({"type": "tool_use", "id": call, "name": "Agent", "input": prompt})
        path = self.folder / "subagents" / f"agent-{agent}.jsonl"
        parent, self.parent, self.agent = self.parent, None, agent
        self._write_lines(path, iter([self._user("Survey."), *self._turn(), *self._turn()]))
        meta = {"agentType": "Explore", "description": "Survey", "toolUseId": call}
        self._companion(path.with_suffix(".meta.json"), orjson.dumps(meta))
        self.parent, self.agent = parent, None
        answer = [{"type": "text", "text": "Surveyed."}]
        result = {"status": "completed", "prompt": "Survey.", "agentId": agent, "content": answer}
        yield self._result(call, answer, result)

    def _turn(self) -> Iterator[bytes]:
        call = self._call_id()
        response = f"msg_{self.rng.randbytes(12).hex()}"
        thinking = {"type": "thinking", "thinking": self._phrase(), "signature": "c2ln" * 20}
        command = f"weather {self._phrase()}"
        bash = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        for block in (thinking, {"type": "text", "text": self._phrase()}, bash):
            yield self._assistant(block, response)
        yield self._bash_result(call, self._output(output.result_size(self.rng)))

    def _bash_result(self, call: str, text: str) -> bytes:
        result = {"stdout": text[:28_000], "stderr": "", "interrupted": False, "isImage": False}
        if len(text) < PERSISTED_FROM_BYTES:
            return self._result(call, text, result)
        path = self.folder / "tool-results" / f"{self.rng.randbytes(5).hex()}.txt"
        self._companion(path, text.encode())
        place = f"{CWD}/{path.name}"
        shown = (
            f"<persisted-output>\nOutput too large ({len(text) / 1024:.1f}KB). Full output saved"
            f" to: {place}\n\nPreview (first 2KB):\n{text[:2_000]}\n...\n</persisted-output>"
        )
        extra = {"persistedOutputPath": place, "persistedOutputSize": len(text.encode())}
        return self._result(call, shown, result | extra)

    def _user(self, text: str) -> bytes:
        self.tree.message_count += 1
        return self._record("user", {"role": "user", "content": text})

    def _assistant(self, block: dict[str, Any], response: str | None = None) -> bytes:
        self.tree.message_count += 1
        self.tree.tool_call_count += block["type"] == "tool_use"
        message = {
            "id": response or f"msg_{self.rng.randbytes(12).hex()}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": [block],
            "stop_reason": "tool_use",
            "usage": {
                "input_tokens": 12,
                "cache_creation_input_tokens": 300,
                "cache_read_input_tokens": 5_000,
                "output_tokens": 180,
            },
        }
        return self._record("assistant", message)

    def _result(self, call: str, content: Any, tool_use_result: Any) -> bytes:
        block = {"tool_use_id": call, "type": "tool_result", "content": content, "is_error": False}
        message = {"role": "user", "content": [block]}
        return self._record("user", message, toolUseResult=tool_use_result)

    def _record(self, kind: str, message: dict[str, Any], **more: Any) -> bytes:
        self.now += timedelta(milliseconds=self.rng.randrange(20, 20_000))
        own = self._uuid()
        record = {
            "parentUuid": self.parent,
            "isSidechain": self.agent is not None,
            "type": kind,
            "message": message,
            "uuid": own,
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "cwd": CWD,
            "sessionId": self.id,
            "version": "2.1.185",
            "gitBranch": "main",
            **({"agentId": self.agent} if self.agent else {}),
            **more,
        }
        self.parent = own
        line = orjson.dumps(record) + b"\n"
        self.tree.size += len(line)
        return line

    def _companion(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.tree.companions.append(path)
        self.tree.size += len(data)

    def _output(self, size: int) -> str:
        start = self.rng.randrange(max(1, len(self.pool) - size))
        return self.pool[start : start + size]

    def _phrase(self) -> str:
        return output.phrase(self.rng, self.rng.randrange(3, 30))

    def _call_id(self) -> str:
        return f"toolu_{self.rng.randbytes(12).hex()}"

    def _uuid(self) -> str:
        return str(uuid.UUID(bytes=self.rng.randbytes(16), version=4))
