"""A range of the bytes of a content's readable text."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolfold.readable_stream.runs import IN_LOOP_CHARACTERS, Run


@dataclass(slots=True)
class Window:
    """What bytes [start, end) of a text are, and `size`, how many bytes the whole has."""

    start: int
    end: int
    size: int = 0
    _pieces: list[bytes] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        """The bytes in it, fewer where the text is shorter."""
        return b"".join(self._pieces)

    def add(self, run: Run) -> None:
        """Take the next run of the text."""
        data = run.text.encode()
        if self.size < self.end and self.start < self.size + len(data):
            self._pieces.append(data[max(0, self.start - self.size) : self.end - self.size])
        self.size += len(data)


async def window(runs: AsyncIterator[Run], start: int, end: int) -> Window:
    """Return bytes [start, end) of the text that these runs make up, reading all of them."""
    found = Window(start, end)
    async for run in runs:
        if len(run.text) > IN_LOOP_CHARACTERS:
            await asyncio.to_thread(found.add, run)
        else:
            found.add(run)
    return found
