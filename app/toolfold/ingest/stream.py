"""What the lines of an import stream say: an export's lines, or all that an importer tells.

A stream is either what `toolfold export` writes, of any number of sessions, or it tells a file
that an importer reads elsewhere. The latter begins with the file,

    {"toolfold": 1, "source": {"id": …, "path": …, "format": …, "companions": …,
                               "changedAt": …, "importedLine": 0, "session": …,
                               "live": false}}

and then has a line for each entry: `of` names the session by the agent's own id, and the file's
line (each null if there is none); beside it stands one value under its kind,

    {"of": ["s1", 12], "message": {…}}

`message` and `session` as the export writes them, `toolCallUpdate` with the keys of a tool call
(what is absent stays as it is, null clears), `messageUsage`, `record` and `repair`; and `known`,
a session's `id` and `format` when nothing of it is to be written. Between them

    {"place": {"line": 12, "size": 4711, "digest": …, "passedBy": 0, "end": false}}

says that the lines so far tell the file up to there, of which `passedBy` messages since the last
place were left out as imported before; `end`, that it is the file's end. `told` writes this.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolfold.errors import BadLineError, TranscriptError
from toolfold.importers import export_values, toolfold_export
from toolfold.importers.export_values import Fields
from toolfold.importers.jsonl import Checkpoint, Decoded, Line
from toolfold.importers.toolfold_export import Export
from toolfold.ingest.preparation import mend
from toolfold.ingest.source import Reached, Source
from toolfold.settings import MAX_BIG_INT
from toolfold.transcript import (
    ContentState,
    Entry,
    Json,
    MessageUsage,
    Record,
    Repair,
    ToolCallUpdate,
    ToolKind,
    ToolStatus,
    Value,
)

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Place:
    """How far the lines of a stream tell its source; `passed_by` messages were left out."""

    reached: Reached
    passed_by: int


@dataclass(frozen=True, slots=True)
class Known:
    """Whose session is meant by the entries that follow, of which this one is not written."""

    entry: Entry


class Stream:
    """One stream that is being read, line by line."""

    def __init__(self) -> None:
        self._export = Export()
        self._is_of_source = False
        self._is_begun = False

    def read(self, line: Line) -> Iterator[Entry | Known | Source | Place]:
        """Yield what a line says.

        Raises:
            BadLineError: if it says nothing that can be imported.
        """
        try:
            for decoded in toolfold_export.decode(line):
                if isinstance(decoded, Record):
                    raise BadLineError(decoded.reason, line=line.number)
                is_source = isinstance(decoded, Decoded) and _has(decoded.value, "source")
                if is_source and not self._is_begun:
                    self._is_of_source = True
                    yield _source(decoded)
                elif self._is_of_source:
                    yield _told(decoded)
                else:
                    yield from self._exported(line, decoded)
                self._is_begun = True
        except (TranscriptError, ValueError) as error:
            raise BadLineError(str(error), line=line.number) from error

    def end(self) -> Iterator[Entry]:
        """Yield what the stream's end tells."""
        yield from self._export.end()

    def _exported(self, line: Line, decoded: Decoded | Repair) -> Iterator[Entry]:
        for entry in self._export.take(line, decoded):
            if isinstance(entry.value, Record):
                raise ValueError(entry.value.reason)
            if entry.session is None and not isinstance(entry.value, Repair):
                raise ValueError("a message before any session")
            yield entry


def _has(value: Json, key: str) -> bool:
    return isinstance(value, dict) and key in value


def _source(decoded: Any) -> Source:
    toolfold_export.require_version(decoded.value.get("toolfold"))
    fields = _required(Fields(decoded.value), "source")
    session_id = fields.optional("session", str)
    return Source(
        id=_sha256(fields, "id"),
        path=mend(fields.required("path", str)),
        format=mend(fields.required("format", str)),
        companions=bytes.fromhex(_sha256(fields, "companions")),
        changed_at=_time(fields, "changedAt"),
        imported_line=_natural(fields, "importedLine"),
        session_id=None if session_id is None else mend(session_id),
        is_live=bool(fields.optional("live", bool)),
    )


def _told(decoded: Decoded | Repair) -> Entry | Known | Place:
    if isinstance(decoded, Repair) or decoded.repaired:
        raise ValueError("not as it was written")
    fields = Fields(decoded.value)
    place = fields.nested("place")
    if place is not None:
        return _place(place)
    kinds = [kind for kind in _VALUES if kind in fields.value]
    if len(kinds) != 1:
        raise ValueError("not exactly one value")
    session, line = _of(fields)
    value = _VALUES[kinds[0]](_required(fields, kinds[0]))
    if session is None and not isinstance(value, Record | Repair):
        raise ValueError("a value of no session")
    entry = Entry(session, line, value)
    return Known(entry) if kinds == ["known"] else entry


def _of(fields: Fields) -> tuple[str | None, int | None]:
    match fields.value.get("of"):
        case [None | str() as session, None | int() as line]:
            if line is None or 0 < line <= MAX_BIG_INT:
                return session, line
    raise ValueError("`of` is not of its type")


def _place(fields: Fields) -> Place:
    place = Checkpoint(
        line=_natural(fields, "line"),
        size=_natural(fields, "size"),
        digest=bytes.fromhex(_sha256(fields, "digest")),
    )
    is_end = bool(fields.optional("end", bool))
    return Place(Reached(place, is_end=is_end), _natural(fields, "passedBy"))


def _required(fields: Fields, key: str) -> Fields:
    found = fields.nested(key)
    if found is None:
        raise ValueError(f"`{key}` is missing")
    return found


def _natural(fields: Fields, key: str) -> int:
    number = fields.required(key, int)
    if not 0 <= number <= MAX_BIG_INT:
        raise ValueError(f"`{key}` is out of range")
    return number


def _time(fields: Fields, key: str) -> datetime:
    time = fields.time(key)
    if time is None:
        raise ValueError(f"`{key}` is missing")
    return time


def _sha256(fields: Fields, key: str) -> str:
    digest = fields.required(key, str)
    if not _SHA256.fullmatch(digest):
        raise ValueError(f"`{key}` is no SHA-256")
    return digest


def _tool_call_update(fields: Fields) -> ToolCallUpdate:
    said = {name: read(fields, key) for key, (name, read) in _UPDATE.items() if key in fields.value}
    repaired = bool(fields.optional("repaired", bool))
    return ToolCallUpdate(fields.required("toolCallId", str), **said, repaired=repaired)


def _optional_text(fields: Fields, key: str) -> str | None:
    return fields.optional(key, str)


def _text(fields: Fields, key: str) -> str:
    return fields.required(key, str)


def _json(fields: Fields, key: str) -> Json:
    return fields.value[key]


_UPDATE: dict[str, tuple[str, Callable[[Fields, str], Any]]] = {
    "name": ("name", _text),
    "title": ("title", _optional_text),
    "kind": ("kind", lambda fields, key: ToolKind(fields.required(key, str))),
    "status": ("status", lambda fields, key: ToolStatus(fields.required(key, str))),
    "locations": (
        "locations",
        lambda fields, key: tuple(map(export_values.location, fields.array(key))),
    ),
    "content": ("content", _json),
    "contentState": (
        "content_state",
        lambda fields, key: ContentState(fields.required(key, str)),
    ),
    "rawInput": ("raw_input", _json),
    "rawOutput": ("raw_output", _json),
    "startedAt": ("started_at", Fields.time),
    "endedAt": ("ended_at", Fields.time),
    "childSession": ("child_session", _text),
}
"""What an update may say: its key, the value's name, and how it is read."""

_VALUES: dict[str, Callable[[Fields], Value]] = {
    "known": export_values.session,
    "session": export_values.session,
    "message": lambda fields: export_values.message(fields, repaired=False),
    "toolCallUpdate": _tool_call_update,
    "messageUsage": lambda fields: MessageUsage(
        fields.required("clientId", str), export_values.usage(fields.nested("usage"))
    ),
    "record": lambda fields: Record(
        base64.b64decode(fields.required("raw", str), validate=True),
        fields.required("reason", str),
    ),
    "repair": lambda fields: Repair(fields.required("reason", str)),
}
