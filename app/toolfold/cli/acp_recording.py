"""Recording what `toolfold acp` has spooled, through the server if one runs, else into the file."""

import asyncio
import hashlib
import logging
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from toolfold.cli import acp_notice
from toolfold.cli.opening import opened
from toolfold.cli.through_server import ServerLink, project_id_for
from toolfold.errors import AppError, ArchivedSessionError
from toolfold.events import Events
from toolfold.importers.acp import NAME
from toolfold.importers.acp.live import is_acp
from toolfold.importers.jsonl import Checkpoint, Line
from toolfold.ingest import Counts
from toolfold.ingest.live_log import LiveTelling
from toolfold.ingest.preparation import mend
from toolfold.ingest.receiving import Receiver, answer
from toolfold.ingest.sending import Post
from toolfold.ingest.source import Source
from toolfold.proxy import frames
from toolfold.proxy.lines import SpooledLine, SpoolReader
from toolfold.relay import telling
from toolfold.settings import Settings
from toolfold.store import source
from toolfold.store.engine import Database
from toolfold.transcript import Record

TICK_SECONDS = 0.2
_WORK_SHARE = 4
"""How many times as long as it took to record what was new is waited for more."""

_logger = logging.getLogger(__name__)

_PAUSES_SECONDS = (1, 2, 4, 8, 8, 8)
"""How long after each failure it is tried again once the agent has ended."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of a spool: the ids of its sessions, none if nothing of ACP was said in it.

    `deleted` are the ids of those that were deleted while they were recorded, and stay so.
    """

    agent: str
    sessions: tuple[str, ...] = ()
    added: int = 0
    deleted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Destination:
    """The database, and the way to write to it: through its server while one runs."""

    database: Database
    link: ServerLink
    events: Events

    async def project_id(self, name: str) -> str:
        """Return the id of a project, which is made if there is none."""
        return await project_id_for(self.database, self.link, name)

    async def post(self, project_id: str) -> Post:
        """Return what writes a stream of lines into a project."""
        through_server = await self.link.post(project_id)
        return through_server or partial(self._receive, project_id)

    async def _receive(self, project_id: str, lines: AsyncIterator[bytes]) -> Any:
        def written(counts: Counts) -> None:
            self.events.publish(counts.positions(project_id))

        receiver = Receiver(self.database, project_id, written)
        async for piece in lines:
            await receiver.take(piece)
        await receiver.end()
        return answer(receiver.tally)


async def record_live(settings: Settings, path: Path) -> Recorded | None:
    """Record a spool while it grows, until its agent has ended, and remove it.

    A failure is tried again as long as the agent runs, and a while after that; meanwhile there is
    a notice of it. None if there is nothing to do: it is gone, or another process records it.

    Raises:
        AppError: if it failed for good; the spool stays.
        OSError: if the spool cannot be read.
        ValueError: if it is no spool.
    """
    reader = _reader(path)
    if reader is None:
        return None
    pauses = list(_PAUSES_SECONDS)
    logged = ""
    with reader:
        while True:
            try:
                return await _record(settings, reader)
            except AppError as error:
                if error.message != logged:
                    logged = error.message
                    _logger.warning("%s: not recorded yet: %s", path.name, logged)
                if reader.is_ended and not pauses:
                    raise
                pause = pauses.pop(0) if reader.is_ended else _PAUSES_SECONDS[-1]
                acp_notice.leave(path, error.message, pause)
                await asyncio.sleep(pause)


async def record_ended(settings: Settings, path: Path) -> Recorded | None:
    """Record a spool whose agent has ended, and remove it; None if there is nothing to do.

    Raises:
        AppError: if it failed; the spool stays.
        OSError: if the spool cannot be read.
        ValueError: if it is no spool.
    """
    reader = _reader(path)
    if reader is None:
        return None
    with reader:
        return await _record(settings, reader) if reader.is_ended else None


def _reader(path: Path) -> SpoolReader | None:
    """Open a spool; None if it is gone, or another process records it."""
    try:
        return SpoolReader(path)
    except (BlockingIOError, FileNotFoundError):
        return None


async def _record(settings: Settings, reader: SpoolReader) -> Recorded:
    """Record a spool from its beginning to its end, and remove it."""
    acp_notice.remove(reader.path)
    recorded = Recorded(reader.run.agent)
    if await _says_acp(reader):
        async with (
            opened(settings, create=True) as database,
            ServerLink(settings) as link,
            telling(database) as events,
        ):
            recorded = await _Recording(reader, Destination(database, link, events)).run()
    reader.remove()
    return recorded


async def _says_acp(reader: SpoolReader) -> bool:
    """Wait until a message of ACP has gone through; False if the agent ended without one."""
    reader.rewind()
    while True:
        is_ended = reader.is_ended
        for heard in reader.lines():
            if is_acp(_line(heard)):
                return True
        if is_ended:
            return False
        await asyncio.sleep(TICK_SECONDS)


class _Recording:
    """A spool that is being recorded; a failure leaves it to be begun anew."""

    def __init__(self, reader: SpoolReader, destination: Destination) -> None:
        self._reader = reader
        self._destination = destination
        self._sessions: dict[str, None] = {}
        self._deleted: dict[str, None] = {}
        self._added = 0

    async def run(self) -> Recorded:
        """Record until the spool ends."""
        self._reader.rewind()
        self._project_id = await self._destination.project_id(self._reader.run.project)
        self._telling = LiveTelling(self._reader.path, await self._source())
        loop = asyncio.get_running_loop()
        while not self._reader.is_ended:
            began = loop.time()
            if await self._hear_all():
                self._telling.show()
                await self._write()
            await asyncio.sleep(max(TICK_SECONDS, _WORK_SHARE * (loop.time() - began)))
        await self._hear_all()
        for heard in self._reader.rest():
            self._hear(heard)
        self._telling.end()
        await self._write(is_end=True)
        return Recorded(
            self._reader.run.agent,
            tuple(one for one in self._sessions if one not in self._deleted),
            self._added,
            tuple(self._deleted),
        )

    async def _source(self) -> Source:
        path = self._reader.path.resolve()
        source_id = hashlib.sha256(os.fsencode(path)).hexdigest()
        async with self._destination.database.read() as connection:
            row = await source.by_id(connection, self._project_id, source_id)
        return Source(
            id=source_id,
            path=mend(str(path)),
            format=NAME,
            companions=hashlib.sha256().digest(),
            changed_at=datetime.now(UTC),
            imported_line=0 if row is None else row.line,
            session_id=None if row is None else row.session_id,
            is_live=True,
        )

    async def _hear_all(self) -> bool:
        """Take the lines that there are by now; say whether there were any."""
        is_news = False
        for heard in self._reader.lines():
            is_news = True
            self._hear(heard)
            if self._telling.is_full:
                await self._write()
        return is_news

    def _hear(self, heard: SpooledLine) -> None:
        if heard.damage is not None:
            self._telling.keep(heard.number, Record(heard.raw, heard.damage))
            return
        time = datetime.fromtimestamp(heard.nanoseconds / 1_000_000_000, UTC)
        direction = "to agent" if heard.direction == frames.TO_AGENT else "from agent"
        self._telling.hear(_line(heard), direction, time)

    async def _write(self, *, is_end: bool = False) -> None:
        reader = self._reader
        place = Checkpoint(reader.line, reader.size, reader.digest)
        packet = self._telling.take(place, is_end=is_end)

        async def lines() -> AsyncIterator[bytes]:
            for piece in packet:
                yield piece

        post = await self._destination.post(self._project_id)
        written = await post(lines())
        for one in written["sessions"]:
            if one["refusal"] is not None:
                raise ArchivedSessionError(one["refusal"])
        ids = [one["id"] for one in written["sessions"]]
        self._telling.written(ids)
        self._sessions |= dict.fromkeys(ids)
        self._added += written["added"]
        for deleted in written["deleted"]:
            if deleted not in self._deleted:
                self._deleted[deleted] = None
                _logger.info(
                    "%s: session %s was deleted; what else is said in it is not recorded",
                    self._reader.path.name,
                    deleted,
                )


def _line(heard: SpooledLine) -> Line:
    return Line(heard.number, heard.raw, heard.is_terminated)
