"""The lines of a content's readable text that contain a text, without regard to case."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolfold.readable_stream.run import IN_LOOP_CHARACTERS, Run

MAX_SHOWN_CHARACTERS = 2_000
_LONG_LINE_CHARACTERS = 256 * 1024


@dataclass(frozen=True, slots=True)
class Match:
    """A line, counted from 1, that contains the text.

    `offset` is where it is found first in the line, in stored bytes. Of a longer line `text` has
    `MAX_SHOWN_CHARACTERS` around that place.
    """

    line: int
    offset: int
    text: str


def folded(text: str) -> str:
    """Return the text as it is compared: as many characters, in lower case."""
    # Of all characters these alone have another length in lower case, or one by its neighbours.
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


@dataclass(slots=True)
class Finder:
    """Takes the runs of a text; keeps the first matches after line `after`, and counts all.

    It keeps up to `limit`, and of more than one up to `limit_bytes`. `line` is the one in which
    the first run begins.
    """

    needle: str
    limit: int
    limit_bytes: int
    after: int = 0
    line: int = 1
    """The line in which `_text` begins."""
    matches: list[Match] = field(default_factory=list)
    total_count: int = 0
    has_more: bool = False
    _used_bytes: int = 0
    _is_found: bool = False
    """Whether it was found in that line, in what is no longer in `_text`."""
    _text: str = ""
    _starts: list[int] = field(default_factory=list)
    _runs: list[Run] = field(default_factory=list)
    """What `_text` is made of, and where in it each begins; the first may have begun before."""

    def __post_init__(self) -> None:
        self.needle = folded(self.needle)

    def add(self, run: Run) -> None:
        """Look through the next run."""
        self._starts.append(len(self._text))
        self._runs.append(run)
        self._text += run.text
        last_break = self._text.rfind("\n")
        if last_break >= 0:
            self._look_through(last_break + 1)
        if len(self._text) > _LONG_LINE_CHARACTERS:
            self._look_through(len(self._text) - max(len(self.needle) - 1, MAX_SHOWN_CHARACTERS))

    def end(self) -> None:
        """Look through the last line."""
        self._look_through(len(self._text))

    def _look_through(self, end: int) -> None:
        """Look for what begins before `end`, and forget what stands before it."""
        compared = folded(self._text)
        at = 0
        counted = 0
        while True:
            found = compared.find(self.needle, at)
            if not 0 <= found < end:
                break
            breaks = self._text.count("\n", counted, found)
            if breaks:
                self.line += breaks
                self._is_found = False
            counted = found
            if not self._is_found:
                self._found(found)
            following = self._text.find("\n", found)
            at = end if following < 0 else following
        breaks = self._text.count("\n", counted, end)
        if breaks:
            self.line += breaks
            self._is_found = False
        self._forget(end)

    def _found(self, index: int) -> None:
        self._is_found = True
        self.total_count += 1
        if self.line <= self.after:
            return
        if self.has_more or len(self.matches) == self.limit:
            self.has_more = True
            return
        shown = self._shown(index)
        self._used_bytes += len(shown.encode())
        if self.matches and self._used_bytes > self.limit_bytes:
            self.has_more = True
            return
        self.matches.append(Match(self.line, self._place(index), shown))

    def _place(self, index: int) -> int:
        run = bisect_right(self._starts, index) - 1
        return self._runs[run].place(index - self._starts[run])

    def _shown(self, index: int) -> str:
        before = max(self._text.rfind("\n", 0, index) + 1, index - MAX_SHOWN_CHARACTERS // 2)
        stop = self._text.find("\n", index)
        end = len(self._text) if stop < 0 else stop
        return self._text[before : min(end, before + MAX_SHOWN_CHARACTERS)]

    def _forget(self, end: int) -> None:
        first = max(0, bisect_right(self._starts, end) - 1)
        self._text = self._text[end:]
        self._starts = [start - end for start in self._starts[first:]]
        self._runs = self._runs[first:]


async def find(runs: AsyncIterator[Run], finder: Finder, *, to_the_end: bool = True) -> None:
    """Have a finder look through a text, until it knows of one match too many if it may."""
    async for run in runs:
        if len(run.text) > IN_LOOP_CHARACTERS:
            await asyncio.to_thread(finder.add, run)
        else:
            finder.add(run)
        if finder.has_more and not to_the_end:
            return
    await asyncio.to_thread(finder.end)
