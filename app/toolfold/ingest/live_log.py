"""What a client and an agent say, on its way into the database while they say it.

Lines go in as they were heard; packets come out, in the form in which `sending` tells a file. A
packet may be cut at any line: what is open is told as it stands, and told again when it has grown.
Whoever begins anew begins with the first line; what was written up to `imported_line` is passed by.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from toolfold.importers.acp.live import LiveLog
from toolfold.importers.jsonl import Checkpoint, Line
from toolfold.ingest.source import Reached, Source
from toolfold.ingest.stream import Place
from toolfold.ingest.told import Telling, place_line, source_line
from toolfold.transcript import Entry, Message, Record, Session, SessionStatus


class LiveTelling:
    """A conversation that is being told; `path` names what it leaves without a name.

    Its sessions are active until the end, and completed then.
    """

    def __init__(self, path: Path, source: Source) -> None:
        self._source = source
        self._log = LiveLog(path)
        self._telling = Telling()
        self._passed_by = 0
        self._sessions: dict[str, None] = {}
        self._active: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Whether it is time to take the packet."""
        return self._telling.is_full

    def hear(self, line: Line, direction: str, time: datetime) -> None:
        """Take a line that went one way at this time."""
        self._add(self._log.hear(line, direction, time))

    def keep(self, line: int, record: Record) -> None:
        """Take what cannot be understood in a line's place."""
        self._add([Entry(None, line, record)])

    def show(self) -> None:
        """Tell what is open as it stands."""
        self._add(self._log.show())

    def end(self) -> None:
        """Take the end: nothing more will be said."""
        self._add(self._log.end())
        for session in self._sessions:
            self._telling.add(Entry(session, None, Session(status=SessionStatus.COMPLETED)))

    def take(self, place: Checkpoint, *, is_end: bool = False) -> list[bytes]:
        """Return the packet of what was told up to a place, and begin the next one."""
        packet = [
            source_line(self._source),
            self._telling.take(),
            place_line(Place(Reached(place, is_end=is_end), self._passed_by)),
        ]
        self._source = replace(self._source, imported_line=place.line)
        self._passed_by = 0
        self._active.clear()
        return packet

    def written(self, session_ids: Iterable[str]) -> None:
        """Learn the ids of the sessions of which a packet told."""
        self._source = self._source.telling(session_ids)

    def _add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.session is not None:
                self._sessions[entry.session] = None
            if entry.line is not None and entry.line <= self._source.imported_line:
                self._telling.skip(entry)
                self._passed_by += isinstance(entry.value, Message)
                continue
            self._telling.add(entry)
            if entry.session is not None and entry.session not in self._active:
                self._active.add(entry.session)
                is_live = Session(status=SessionStatus.ACTIVE)
                self._telling.add(Entry(entry.session, None, is_live))
