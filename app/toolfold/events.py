"""Fan-out of committed positions: who wrote tells, who follows wakes up and reads the store.

A position says which session changed and how far it is now, never what changed. So there is no
queue that could overflow: of each session a follower holds the newest position, however much
passes before it looks.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

K = TypeVar("K")

SessionKey = tuple[str, str]
"""(project id, session id)."""


@dataclass(frozen=True, slots=True)
class Position:
    """A session's `head_revision` after a commit; `revision` is None if it was deleted."""

    project_id: str
    session_id: str
    revision: int | None

    @property
    def key(self) -> SessionKey:
        """The session's primary key."""
        return self.project_id, self.session_id

    def after(self, other: "Position | None") -> "Position":
        """Return the later of two positions of one session, of which this one was told later.

        Two writers may tell in another order than they committed; a deletion is told last.
        """
        if other is None or other.revision is None or self.revision is None:
            return self
        return self if self.revision >= other.revision else other


class Watch:
    """What one follower has not looked at yet: the newest position of each session that changed."""

    def __init__(self) -> None:
        self._pending: dict[SessionKey, Position] = {}
        self._news = asyncio.Event()

    @property
    def has_news(self) -> bool:
        """Whether anything was told since the last `take`."""
        return bool(self._pending)

    def take(self) -> dict[SessionKey, Position]:
        """Return what was told since the last time, at once.

        Take before reading the store: what is told meanwhile is then news again.
        """
        taken, self._pending = self._pending, {}
        self._news.clear()
        return taken

    async def news(self) -> None:
        """Wait until there is something to take."""
        await self._news.wait()

    def tell(self, position: Position) -> None:
        """Note a position."""
        self._pending[position.key] = position.after(self._pending.get(position.key))
        self._news.set()


class Events:
    """The positions of one process, from its writers to its followers; used on its event loop."""

    def __init__(self) -> None:
        self._of_session: dict[SessionKey, set[Watch]] = {}
        self._of_project: dict[str | None, set[Watch]] = {}

    def publish(self, positions: Iterable[Position]) -> None:
        """Tell what was written, after the commit. Never waits, whatever followers do."""
        for position in positions:
            for watches in (
                self._of_session.get(position.key),
                self._of_project.get(position.project_id),
                self._of_project.get(None),
            ):
                for watch in watches or ():
                    watch.tell(position)

    @contextlib.contextmanager
    def watch_session(self, project_id: str, session_id: str) -> Iterator[Watch]:
        """Watch one session, whether it exists or not, for as long as the block runs."""
        with _watching(self._of_session, (project_id, session_id)) as watch:
            yield watch

    @contextlib.contextmanager
    def watch_sessions(self, project_id: str | None) -> Iterator[Watch]:
        """Watch the sessions of a project, of all if None, for as long as the block runs."""
        with _watching(self._of_project, project_id) as watch:
            yield watch


@contextlib.contextmanager
def _watching(watches: dict[K, set[Watch]], key: K) -> Iterator[Watch]:
    watch = Watch()
    watches.setdefault(key, set()).add(watch)
    try:
        yield watch
    finally:
        watches[key].discard(watch)
        if not watches[key]:
            del watches[key]
