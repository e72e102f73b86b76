"""A range of the bytes of a content's readable text."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolfold.readable_stream.run import Run


@dataclass(slots=True)
class Window:
    """What bytes [start, end) of a text are, and `size`, how many bytes were read of the whole."""

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
        if self.size < self.end and self.start < self.size + run.size:
            data = run.text.encode()
            self._pieces.append(data[max(0, self.start - self.size) : self.end - self.size])
        self.size += run.size


async def window(
    runs: AsyncIterator[Run], start: int, end: int, *, at: int = 0, to_the_end: bool = True
) -> Window:
    """Return bytes [start, end) of a text of which these are the runs from byte `at` on.

    It reads no further than `end`, unless it is told to.
    """
    found = Window(start, end, at)
    async for run in runs:
        found.add(run)
        if found.size >= end and not to_the_end:
            break
    return found
