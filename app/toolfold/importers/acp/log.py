"""A log of ACP messages, line by line."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from toolfold.errors import TranscriptError
from toolfold.importers import jsonl
from toolfold.importers.acp import shape, wire
from toolfold.importers.acp.exchange import Exchange
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import Decoded, Line
from toolfold.transcript import Entry, Json, Record

NAME = "acp"
MAX_FOREIGN_RECORDS = 50
"""So many records that are not understood make a file one of another format, if none is.

Detection looks at as many lines: no log that it takes for one is refused."""


def accepts(sample: Sequence[Json]) -> bool:
    """Say whether one of the values is a message of ACP, and not of another JSON-RPC protocol."""
    return any(isinstance(value, dict) and _is_acp(wire.unwrap(value)) for value in sample)


def _is_acp(message: dict[str, Json]) -> bool:
    update = shape.nested(message, "update") or message
    if isinstance(update.get("sessionUpdate"), str):
        return True
    method = message.get("method")
    if method == "initialize" or "result" in message:
        # MCP's version is a date; a language server has none.
        opening = shape.nested(message, "params") or shape.nested(message, "result")
        return shape.integer(opening, "protocolVersion") is not None
    return isinstance(method, str) and method.startswith(("session/", "fs/", "terminal/"))


def parse(transcript: Transcript) -> Iterator[Entry]:
    """Yield the values of a log's sessions in the order of their lines.

    A session's id is the agent's; updates that name none are one session, known by the log's path.
    A sub-agent of Claude's has no session of its own in ACP: its id is that of its session, a slash
    and the id of the call that started it. A line that is no message of ACP, and one of a method
    or an update that is not known, is kept as a raw record.

    Raises:
        TranscriptError: naming file and line, if the file is not of this format at all.
    """
    log = _Log(transcript.path)
    held: list[Entry] = []
    for line in transcript.lines:
        held += log.read(line)
        if log.recognised:
            yield from held
            held.clear()
        elif len(held) > MAX_FOREIGN_RECORDS:
            raise _foreign(transcript, held)
    if held:
        raise _foreign(transcript, held)
    yield from log.end()


class _Log:
    """A log that is being read; `recognised` once a message of it is one of ACP."""

    def __init__(self, path: Path) -> None:
        self.recognised = False
        self._exchange = Exchange(path)

    def read(self, line: Line) -> Iterator[Entry]:
        """Yield the entries of a line."""
        for decoded in jsonl.decode(line):
            if not isinstance(decoded, Decoded):
                yield Entry(None, line.number, decoded)
                continue
            # A method of ACP's that is not known yet is understood in so far.
            self.recognised = self.recognised or accepts([decoded.value])
            try:
                for session, value in self._exchange.take(decoded):
                    yield Entry(session, line.number, value)
                self.recognised = True
            except NotUnderstoodError as error:
                yield Entry(None, line.number, Record(line.raw, str(error)))

    def end(self) -> Iterator[Entry]:
        """Yield the entries that only the end of the log tells."""
        for session, value in self._exchange.finish():
            yield Entry(session, None, value)


def _foreign(transcript: Transcript, held: list[Entry]) -> TranscriptError:
    return TranscriptError(f"{transcript.path}:{held[0].line}: not a message of ACP.")
