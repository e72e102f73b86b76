"""SQLite's one writer: a queue, a thread, and one commit for what waits.

A commit waits for the disk, and what it writes costs little beside that. So the writes that come in
while others are under way share a transaction: the first stands in it alone, each later one in a
savepoint, so that one which fails takes back its own work and no other's. Whoever asked is answered
after the commit.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

T = TypeVar("T")

MAX_GROUP = 200
"""How many writes share a commit at most."""

GROUP_SECONDS = 0.05
"""After so long no more are taken in: those that are done wait for the commit."""


@dataclass(frozen=True, slots=True)
class _Write:
    """A write that was asked for, and its answer."""

    function: Callable[[Connection], Any]
    answer: Future[Any] = field(default_factory=Future)


@dataclass(slots=True)
class _Done:
    """What a write came to; it is answered when that is committed, or at once if it failed."""

    write: _Write
    result: Any = None
    error: BaseException | None = None

    def tell(self) -> None:
        """Answer whoever asked."""
        if self.error is None:
            self.write.answer.set_result(self.result)
        else:
            self.write.answer.set_exception(self.error)


class _GroupLostError(Exception):
    """SQLite took back the whole transaction for one write's sake, as when the disk is full."""


class Writer:
    """Runs functions on the one thread that writes, in the order in which they are asked for."""

    def __init__(self, engine: Engine) -> None:
        """Begin; `engine` has one connection, whose transactions hold the write lock."""
        self._engine = engine
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolfold-writer")
        self._queue: deque[_Write] = deque()

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Return what `function` returns once it is committed; it may be run more than once.

        A cancelled caller stops waiting; what it asked for is written all the same.
        """
        write = _Write(function)
        # From here on it cannot be cancelled.
        write.answer.set_running_or_notify_cancel()
        self._queue.append(write)
        self._thread.submit(self._commit_group)
        result: T = await asyncio.shield(asyncio.wrap_future(write.answer))
        return result

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Return what `function` returns, run on the thread after what was asked for before."""
        loop = asyncio.get_running_loop()
        return await asyncio.shield(loop.run_in_executor(self._thread, function, *args))

    async def close(self) -> None:
        """Finish the writes that were asked for, then close the connection."""
        await self.run(self._engine.dispose)
        self._thread.shutdown()

    def _commit_group(self) -> None:
        """Write and commit what waits, if another call has not done so."""
        if not self._queue:
            return
        group = [_Done(self._queue.popleft())]
        try:
            with self._engine.begin() as connection:
                group[0].result = group[0].write.function(connection)
                self._take_in(connection, group)
        except BaseException as error:  # noqa: BLE001 (whoever asked gets what its function raises)
            if len(group) == 1:
                group[0].error = error
            else:
                group = [self._alone(done.write) for done in group]
        for done in group:
            done.tell()

    def _take_in(self, connection: Connection, group: list[_Done]) -> None:
        """Write what has come in meanwhile in the same transaction.

        Raises:
            _GroupLostError: if there is no transaction any more; then all that it held is undone.
        """
        deadline = time.monotonic() + GROUP_SECONDS
        while self._queue and len(group) < MAX_GROUP and time.monotonic() < deadline:
            done = _Done(self._queue.popleft())
            group.append(done)
            try:
                with connection.begin_nested():
                    done.result = done.write.function(connection)
            except BaseException as error:
                if not connection.connection.in_transaction:
                    raise _GroupLostError from error
                done.error = error

    def _alone(self, write: _Write) -> _Done:
        """Run a write again in a transaction of its own."""
        done = _Done(write)
        try:
            with self._engine.begin() as connection:
                done.result = write.function(connection)
        except BaseException as error:  # noqa: BLE001 (the same)
            done.error = error
        return done
