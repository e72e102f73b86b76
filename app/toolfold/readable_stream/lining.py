"""Lines of a content's readable text."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolfold.readable_stream.run import IN_LOOP_CHARACTERS, Run


@dataclass(slots=True)
class Liner:
    r"""Takes the runs of a text; keeps up to `count` lines from line `first` on, and counts all.

    Lines end in `\n` and are counted from 1. Of each it keeps the first `max_line_characters`.
    `offset` is where line `first` begins in the bytes of the text, which is its end if it has no
    such line. `limit` bounds the characters that are kept, of more than one line. `line` is the
    one in which the first run begins, and `offset` at first where it does.
    """

    first: int
    count: int
    max_line_characters: int
    limit: int
    line: int = 1
    offset: int = 0
    lines: list[str] = field(default_factory=list)
    _has_text: bool = False
    """Whether the line being read has any."""
    _kept: str = ""
    _used: int = 0
    _is_full: bool = False

    @property
    def total(self) -> int:
        """How many lines there are in what was taken."""
        return self.line if self._has_text else self.line - 1

    @property
    def is_done(self) -> bool:
        """Whether the lines are all there that can be kept, and it is known that more follow."""
        return self._is_full and self.total >= self.first + len(self.lines)

    def add(self, run: Run) -> None:
        """Take the next run."""
        text = run.text
        at = 0
        while at < len(text):
            if self.line < self.first:
                at = self._pass_by(text, at)
            elif self._is_full:
                self.line += text.count("\n", at)
                at = len(text)
            else:
                at = self._keep(text, at)
        if text:
            self._has_text = not text.endswith("\n")

    def end(self) -> None:
        """Take the end of the text for that of its last line."""
        if self._has_text and self.first <= self.line and not self._is_full:
            self._end_line()

    def _pass_by(self, text: str, at: int) -> int:
        """Go on in front of the first line that is wanted, which may begin in this text."""
        missing = self.first - self.line
        breaks = text.count("\n", at)
        if breaks < missing:
            self.line += breaks
            end = len(text)
        else:
            self.line = self.first
            end = at
            for _ in range(missing):
                end = text.index("\n", end) + 1
        passed = text[at:end]
        self.offset += len(passed) if passed.isascii() else len(passed.encode())
        return end

    def _keep(self, text: str, at: int) -> int:
        found = text.find("\n", at)
        stop = len(text) if found < 0 else found
        room = self.max_line_characters - len(self._kept)
        self._kept += text[at : min(stop, at + room)]
        if found < 0:
            return len(text)
        self._end_line()
        self.line += 1
        return found + 1

    def _end_line(self) -> None:
        self._used += len(self._kept)
        self._is_full = bool(self.lines) and self._used > self.limit
        if not self._is_full:
            self.lines.append(self._kept)
            self._is_full = len(self.lines) == self.count
        self._kept = ""


async def read(runs: AsyncIterator[Run], liner: Liner, *, to_the_end: bool = True) -> Liner:
    """Have a liner take a text, no more of it than it needs unless it is told to."""
    async for run in runs:
        if len(run.text) > IN_LOOP_CHARACTERS:
            await asyncio.to_thread(liner.add, run)
        else:
            liner.add(run)
        if liner.is_done and not to_the_end:
            break
    liner.end()
    return liner
