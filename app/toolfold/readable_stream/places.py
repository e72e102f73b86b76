"""Where the texts of contents can be read on from, as far as they were read.

A content never changes, so neither does where its text lies in it. What is kept makes a later
reading take the time of what it reads, instead of all that stands before.
"""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from operator import attrgetter

from toolfold.readable_stream.run import START, Entry, Run

SPACING_BYTES = 1024 * 1024
"""Bytes of text between two places; a content up to this many is read from its start."""

MAX_PLACES = 1_024
"""Places kept of one text: of a longer one they lie further apart."""

MAX_TEXTS = 64


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: how many bytes and line breaks stand before, and how to read on."""

    offset: int = 0
    breaks: int = 0
    entry: Entry = START


_offset, _breaks = attrgetter("offset"), attrgetter("breaks")


@dataclass(slots=True)
class TextPlaces:
    """The places of one text; `size` and `line_count` are known when it was read to its end."""

    size: int | None = None
    line_count: int | None = None
    spacing: int = SPACING_BYTES
    _places: list[Place] = field(default_factory=lambda: [Place()])

    def before_byte(self, offset: int) -> Place:
        """Return the last known place up to a byte of the text."""
        return self._places[max(0, bisect_right(self._places, offset, key=_offset) - 1)]

    def before_line(self, line: int) -> Place:
        """Return the last known place before the beginning of a line, counted from 1."""
        return self._places[max(0, bisect_left(self._places, line - 1, key=_breaks) - 1)]

    async def followed(self, runs: AsyncIterator[Run], place: Place) -> AsyncIterator[Run]:
        """Yield the runs from a place on, and learn where they lie."""
        offset, breaks, is_ended = place.offset, place.breaks, True
        async for run in runs:
            if run.entry is not None:
                self._note(Place(offset, breaks, run.entry))
            yield run
            offset += run.size
            breaks += run.breaks
            is_ended = run.text.endswith("\n")
        self.size, self.line_count = offset, breaks + (not is_ended)

    def _note(self, place: Place) -> None:
        if place.offset < self._places[-1].offset + self.spacing:
            return
        self._places.append(place)
        if len(self._places) > MAX_PLACES:
            self._places = self._places[::2]
            self.spacing *= 2


class KnownTexts:
    """The places of the texts that were read last, by the hash of their content."""

    def __init__(self) -> None:
        self._texts: OrderedDict[bytes, TextPlaces] = OrderedDict()

    def of(self, digest: bytes, size: int) -> TextPlaces:
        """Return what is known of the text of a content of `size` stored bytes."""
        if size <= SPACING_BYTES:
            return TextPlaces()
        found = self._texts.setdefault(digest, TextPlaces())
        self._texts.move_to_end(digest)
        if len(self._texts) > MAX_TEXTS:
            self._texts.popitem(last=False)
        return found
