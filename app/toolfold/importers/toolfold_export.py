"""Toolfold's own export: JSON lines that take a session from one database to another, whole.

`toolfold export SESSION` writes it; see `toolfold.export` for the writer and the form. Files may
be joined: each header line starts a session. What is read here keeps its ids, its source format
and its states, so that an export of the copy has the bytes of the first one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolfold import stored_json
from toolfold.errors import TranscriptError
from toolfold.importers import export_values, jsonl
from toolfold.importers.export_values import Fields
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import Decoded, Line
from toolfold.transcript import Entry, Json, Message, Record, Repair, Session

NAME = "toolfold"
VERSION = 1
"""What the header line's `toolfold` says; a change that this version could not read raises it."""


def accepts(sample: Sequence[Json]) -> bool:
    """Say whether the first value is an export's header line."""
    return bool(sample) and _is_header(sample[0])


def parse(transcript: Transcript) -> Iterator[Entry]:
    """Yield each session of an export and its messages, in file order.

    Raises:
        TranscriptError: naming file and line, if a header is of a version that is not known
            here, or lacks what makes a session.
    """
    export = Export()
    for line in transcript.lines:
        try:
            yield from export.read(line)
        except TranscriptError as error:
            place = f"{transcript.path}:{line.number}"
            raise TranscriptError(f"{place}: {error.message}") from error
    yield from export.end()


class Export:
    """An export that is being read, line by line.

    A session's status and time of update are told again after its last message, because an
    archived session refuses messages and writing them moves the time. A line that is not what
    the export writes is kept as a raw record.
    """

    def __init__(self) -> None:
        self._own_id: str | None = None
        self._session: Session | None = None

    def read(self, line: Line) -> Iterator[Entry]:
        """Yield what a line says, and before a header what ends the session before it.

        Raises:
            TranscriptError: if a header is of a version that is not known here, or damaged.
        """
        for decoded in decode(line):
            yield from self.take(line, decoded)

    def take(self, line: Line, decoded: Decoded | Record | Repair) -> Iterator[Entry]:
        """Yield what a part of a line says, as `read` does of the whole line."""
        if not isinstance(decoded, Decoded):
            yield Entry(self._own_id, line.number, decoded)
        elif _is_header(decoded.value):
            yield from self.end()
            self._own_id, self._session = _header(decoded.value)
            yield Entry(self._own_id, line.number, replace(self._session, status=None))
        else:
            yield Entry(self._own_id, line.number, _message(line, decoded))

    def end(self) -> Iterator[Entry]:
        """Yield what ends the last session, if there is one."""
        if self._session is not None:
            yield Entry(self._own_id, None, self._session)


def decode(line: Line) -> Iterator[Decoded | Record | Repair]:
    """Yield the value of a line that the export wrote, else what `jsonl` makes of the line.

    An exported line may be nested as deep as a stored value, and a little more.
    """
    try:
        value = stored_json.decode(line.raw)
    except ValueError:
        yield from jsonl.decode(line)
    else:
        yield Decoded(value, repaired=False)


def require_version(value: Json) -> None:
    """Refuse what another version of Toolfold says in another way.

    Raises:
        TranscriptError: saying what to do.
    """
    if value != VERSION:
        raise TranscriptError(
            f"this is an export of version {value}, and this Toolfold reads version {VERSION}."
            " Upgrade Toolfold."
        )


def _is_header(value: Json) -> bool:
    return (
        isinstance(value, dict) and "toolfold" in value and isinstance(value.get("session"), dict)
    )


def _header(value: Json) -> tuple[str, Session]:
    """Return the agent's own id of the session, or the session's id if no agent gave one."""
    require_version(value["toolfold"])
    try:
        fields = Fields(value["session"])
        for key in ("id", "agent", "status"):
            fields.required(key, str)
        session = export_values.session(fields)
        return fields.optional("sourceSession", str) or fields.required("id", str), session
    except ValueError as error:
        raise TranscriptError(f"the session of this export is damaged: {error}.") from error


def _message(line: Line, decoded: Decoded) -> Message | Record:
    try:
        fields = Fields(decoded.value).nested("message")
        if fields is None:
            return Record(line.raw, "not an exported message")
        return export_values.message(fields, repaired=decoded.repaired)
    except ValueError as error:
        return Record(line.raw, f"not an exported message: {error}")
