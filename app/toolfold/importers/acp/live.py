"""A conversation between a client and an agent while it goes on, line by line.

It becomes what a log of it would: see `log`. What is open can be shown at any time.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from toolfold.importers import jsonl
from toolfold.importers.acp import log
from toolfold.importers.acp.exchange import Exchange
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.jsonl import Decoded, Line
from toolfold.transcript import Entry, Record

_KEYS = (b"sessionUpdate", b"method", b"protocolVersion")
"""One of which a line has if it says by itself that it is of ACP."""


def is_acp(line: Line) -> bool:
    """Say whether there is a message of ACP in a line."""
    if not any(key in line.raw for key in _KEYS):
        return False  # Most of what is none is so told quickly.
    return log.accepts([one.value for one in jsonl.decode(line) if isinstance(one, Decoded)])


class LiveLog:
    """What was said so far; `path` names what has no name of its own."""

    def __init__(self, path: Path) -> None:
        self._exchange = Exchange(path)

    def hear(self, line: Line, direction: str, time: datetime) -> Iterator[Entry]:
        """Yield what a line makes known that went one way at this time."""
        for decoded in jsonl.decode(line):
            if not isinstance(decoded, Decoded):
                yield Entry(None, line.number, decoded)
                continue
            try:
                for session, value in self._exchange.hear(decoded, direction, time):
                    yield Entry(session, line.number, value)
            except NotUnderstoodError as error:
                yield Entry(None, line.number, Record(line.raw, str(error)))

    def show(self) -> Iterator[Entry]:
        """Yield what is open as it stands; it is told again when more is known of it."""
        for session, value in self._exchange.show():
            yield Entry(session, None, value)

    def end(self) -> Iterator[Entry]:
        """Yield what only the end tells."""
        for session, value in self._exchange.finish():
            yield Entry(session, None, value)
