"""A disk that is full costs what comes then, and nothing else.

The database is on a disk of a few megabytes. Once that is full, every write is refused with
`DISK_FULL` and all that was acknowledged can be read, also from a server that was killed and
started again meanwhile. Once there is room, the very writes that were refused are accepted,
without a restart.

This is of SQLite. What becomes of a PostgreSQL server whose disk is full is that server's own
affair, and a test would take it from everybody else who uses it.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests import claude_tree
from tests.bench.client import Client
from tests.reliability import requests, small_disk, writers
from tests.reliability.outcome import Outcome
from tests.reliability.processes import Restarted, doctor, logged, toolfold
from tests.reliability.writers import Ledger
from toolfold.settings import Settings

NAME = "full_disk"
DIALECTS = ("sqlite",)
CODE = "DISK_FULL"
_FREE_SHARE = 0.4
"""How much of the disk is given back when there is to be room again."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The disk's size."""

    disk_bytes: int


SHORT = Scale(disk_bytes=16 * 2**20)
LONG = Scale(disk_bytes=256 * 2**20)


def run(_settings: Settings, place: Path, scale: Scale) -> Outcome:
    """Fill the disk of a new database, and make room again."""
    outcome = Outcome()
    ledger = Ledger()
    with small_disk.mounted(scale.disk_bytes) as disk:
        small_disk.take(disk, round(scale.disk_bytes * _FREE_SHARE))
        small = Settings(data_dir=disk / "data")
        with Restarted(small, place) as server:
            story = _Story(server, small, place, ledger, outcome)
            story.until_full()
            small_disk.fill(disk)
            story.while_full("while the disk is full")
            server.kill()
            server.start()
            story.while_full("started anew on the full disk")
            small_disk.make_room(disk)
            story.with_room()
            outcome.faults += filter(None, [doctor(small), logged(place)])
    return outcome


class _Story:
    """What is done with a server whose disk fills."""

    def __init__(
        self,
        server: Restarted,
        settings: Settings,
        place: Path,
        ledger: Ledger,
        outcome: Outcome,
    ) -> None:
        self._server = server
        self._settings = settings
        self._ledger = ledger
        self._outcome = outcome
        self._rng = random.Random(1)  # noqa: S311 (the same texts each time)
        client = server.connect()
        (self._session, self._stream) = requests.new_sessions(client, "filling", "stream")
        self._tree = claude_tree.write(place / "tree", sessions=1, total_bytes=1_500_000)
        self._refused = self._text("refused", 1_000_000)
        self._large_import = writers.export_lines("imported", [self._text("imported", 1_000_000)])

    def until_full(self) -> None:
        """Append until there is no room."""
        client = self._server.connect()
        count = 0
        while True:
            count += 1
            text = self._text(count, 100_000)
            if refusal := self._refusal(lambda: self._append(client, text)):  # noqa: B023 (run at once)
                break
        self._outcome.require(CODE in refusal, f"A full disk is told as: {refusal}")
        self._outcome.tell("messages acknowledged until it was full", count - 1)

    def while_full(self, when: str) -> None:
        """Try every way to write, and read all that was acknowledged."""
        client = self._server.connect()
        for name, write in self._writes(client).items():
            refusal = self._refusal(write)
            self._outcome.require(
                refusal is not None and CODE in refusal, f"{when}, {name} is answered: {refusal}"
            )
        told = self._import()
        self._outcome.require(
            told is not None and "disk is full" in told and told.count("\n") <= 2,
            f"{when}, `toolfold import` tells: {told}",
        )
        read = self._ledger.compare(self._server.connect(), self._outcome)
        self._outcome.tell(f"{when}: messages read, as they were sent", read)
        self._outcome.tell(f"{when}: ways to write, each refused", len(self._writes(client)) + 1)
        server = self._server.server
        ready = httpx.get(f"http://{server.host}:{server.port}/readyz", trust_env=False)
        self._outcome.require(ready.status_code == httpx.codes.OK, f"{when}: {ready.text}")
        if finding := doctor(self._settings):
            self._outcome.faults.append(f"{when}: {finding}")

    def with_room(self) -> None:
        """Send what was refused again."""
        client = self._server.connect()
        writes = self._writes(client)
        for name, write in writes.items():
            refusal = self._refusal(write)
            self._outcome.require(refusal is None, f"With room, {name} is refused: {refusal}")
        told = self._import()
        self._outcome.require(told is None, f"With room, `toolfold import` fails: {told}")
        read = self._ledger.compare(self._server.connect(), self._outcome)
        self._outcome.tell("with room again: ways to write, each accepted", len(writes) + 1)
        self._outcome.tell("with room again: messages read, as they were sent", read)

    def _writes(self, client: Client) -> Mapping[str, Callable[[], Any]]:
        """Return ways to write as much as has no place on a disk that is full."""
        update = {
            "sessionUpdate": "tool_call",
            "toolCallId": "call",
            "title": "Run",
            "rawInput": self._refused,
        }
        return {
            "appendMessages": lambda: self._append(client, self._refused),
            "recordAcpUpdates": lambda: requests.record(client, self._stream, 0, [update]),
            "an import": lambda: requests.import_lines(client, self._large_import),
        }

    def _append(self, client: Client, text: str) -> None:
        new = {"clientMessageId": text.split(" ", 1)[0], "role": "USER", "content": text}
        sequences = requests.append(client, self._session, [new])
        self._ledger.note(self._session, sequences, [text])

    def _import(self) -> str | None:
        """Import a folder as a command does; return what it tells if it fails."""
        return toolfold(self._settings, "import", self._tree.root)

    def _refusal(self, write: Callable[[], Any]) -> str | None:
        try:
            write()
        except RuntimeError as error:
            return str(error)
        return None

    def _text(self, mark: object, size: int) -> str:
        """Return a text that no compression makes small; its first word names it."""
        return f"{mark} {self._rng.randbytes(size // 2).hex()}"
