"""Lines of a content's readable text."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolfold.readable_stream.runs import IN_LOOP_CHARACTERS, Run


@dataclass(slots=True)
class Liner:
    r"""Takes the runs of a text; keeps up to `count` lines from line `first` on, and counts all.

    Lines end in `\n` and are counted from 1. Of each it keeps the first `max_line_characters`.
    `offset` is where line `first` begins in the bytes of the text, which is its end if it has no
    such line. `limit` bounds the characters that are kept, of more than one line.
    """

    first: int
    count: int
    max_line_characters: int
    limit: int
    lines: list[str] = field(default_factory=list)
    offset: int = 0
    total: int = 0
    """How many lines there are, when all runs were taken and it was ended."""
    _line: int = 1
    _has_text: bool = False
    """Whether the line being read has any."""
    _kept: str = ""
    _used: int = 0
    _is_full: bool = False

    def add(self, run: Run) -> None:
        """Take the next run."""
        text = run.text
        at = 0
        while at < len(text):
            if self._line < self.first:
                at = self._pass_by(text, at)
            elif self._is_full:
                self._line += text.count("\n", at)
                at = len(text)
            else:
                at = self._keep(text, at)
        if text:
            self._has_text = not text.endswith("\n")

    def end(self) -> None:
        """Take the end of the text for that of its last line."""
        if self._has_text and self.first <= self._line and not self._is_full:
            self._end_line()
        self.total = self._line if self._has_text else self._line - 1

    def _pass_by(self, text: str, at: int) -> int:
        """Go on in front of the first line that is wanted, which may begin in this text."""
        missing = self.first - self._line
        breaks = text.count("\n", at)
        if breaks < missing:
            self._line += breaks
            end = len(text)
        else:
            self._line = self.first
            end = at
            for _ in range(missing):
                end = text.index("\n", end) + 1
        self.offset += len(text[at:end].encode())
        return end

    def _keep(self, text: str, at: int) -> int:
        found = text.find("\n", at)
        stop = len(text) if found < 0 else found
        room = self.max_line_characters - len(self._kept)
        self._kept += text[at : min(stop, at + room)]
        if found < 0:
            return len(text)
        self._end_line()
        self._line += 1
        return found + 1

    def _end_line(self) -> None:
        self._used += len(self._kept)
        self._is_full = bool(self.lines) and self._used > self.limit
        if not self._is_full:
            self.lines.append(self._kept)
            self._is_full = len(self.lines) == self.count
        self._kept = ""


async def read(runs: AsyncIterator[Run], liner: Liner) -> Liner:
    """Have a liner take all of a text."""
    async for run in runs:
        if len(run.text) > IN_LOOP_CHARACTERS:
            await asyncio.to_thread(liner.add, run)
        else:
            liner.add(run)
    liner.end()
    return liner
