"""The files beside a transcript that belong to its session.

    <session>.jsonl                          the session
    <session>/tool-results/<name>            outputs too large for the transcript
    <session>/subagents/agent-<id>.jsonl     a sub-agent, since version 2.1
    <session>/subagents/agent-<id>.meta.json what it was started for
    agent-<id>.jsonl                         a sub-agent beside its session, before that

A transcript may name any path. Only the base name is used, in the session's own folder, and a
link below the folder that holds the session is never followed.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import orjson

from toolfold.importers.claude_code.records import (
    CONVERSATION,
    Envelope,
    Fields,
    envelope,
    is_record,
)
from toolfold.importers.sample import first_values
from toolfold.transcript import Json

_TOOL_RESULTS = "tool-results"
_SUBAGENTS = "subagents"
_META_SUFFIX = ".meta.json"
_MAX_META_BYTES = 64 * 1024
_PLAIN_NAME = re.compile(r"[\w-][\w.-]*")


class SessionFiles:
    """What lies beside one transcript, whose first record has the envelope `first`."""

    def __init__(self, transcript: Path, first: Envelope) -> None:
        parent = transcript.absolute().parent
        self._meta = parent.resolve() / f"{transcript.stem}{_META_SUFFIX}"
        if parent.name == _SUBAGENTS:
            folder = parent.parent.parent.resolve() / parent.parent.name
        elif first.sidechain and first.agent and _PLAIN_NAME.fullmatch(first.session):
            folder = parent.resolve() / first.session
        else:
            folder = parent.resolve() / transcript.stem
        self._tool_results = folder / _TOOL_RESULTS

    def tool_result(self, named: str) -> bytes | None:
        """Return the bytes of the tool result that the transcript names; None if it is not here."""
        name = re.split(r"[/\\]", named)[-1]
        path = self._tool_results / name
        if not _PLAIN_NAME.fullmatch(name) or not _is_plain_file(path):
            return None
        return path.read_bytes()

    def meta(self) -> Fields:
        """Return what is recorded of the sub-agent whose transcript this is; else nothing."""
        if not _is_plain_file(self._meta) or self._meta.stat().st_size > _MAX_META_BYTES:
            return {}
        try:
            meta = orjson.loads(self._meta.read_bytes())
        except orjson.JSONDecodeError:
            return {}
        return meta if isinstance(meta, dict) else {}

    def all(self) -> tuple[Path, ...]:
        """Return every file that the transcript is read with, sorted."""
        results = self._tool_results.iterdir() if _is_plain_folder(self._tool_results) else ()
        return tuple(path for path in sorted((self._meta, *results)) if _is_plain_file(path))


def companions(path: Path) -> tuple[Path, ...]:
    """Return the files beside a transcript that are read with it."""
    for value in first_values(path):
        if is_record(value) and value["type"] in CONVERSATION:
            return SessionFiles(path, envelope(value)).all()
    return ()


def owns(path: Path, sample: Sequence[Json]) -> bool:
    """Say whether a file is a tool result of the session it lies with, or tells of a sub-agent."""
    folder = path.absolute().parent
    if folder.name == _TOOL_RESULTS:
        session = folder.parent
        transcript = session.with_name(f"{session.name}.jsonl")
        return transcript.is_file() and _is_transcript(transcript, transcript.stat().st_mtime_ns)
    return len(sample) == 1 and isinstance(sample[0], dict) and _is_meta(sample[0])


@lru_cache(maxsize=64)
def _is_transcript(path: Path, _changed_at_ns: int) -> bool:
    """Say whether a file is a session's; a session may have hundreds of results beside it."""
    return any(map(is_record, first_values(path)))


def _is_meta(value: Fields) -> bool:
    return isinstance(value.get("agentType"), str) and "type" not in value


def _is_plain_file(path: Path) -> bool:
    """Say whether there is a file, reached without following a link."""
    return path.is_file() and path.resolve() == path


def _is_plain_folder(path: Path) -> bool:
    return path.is_dir() and path.resolve() == path
