"""What a run measures, and where it may write."""

from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured: `quick` takes less of everything, `check` hardly looks at the clock.

    `place` is a folder that the run removes at its end.
    """

    place: Path
    quick: bool
    check: bool
    import_mb: int
    sessions: int
    big: bool

    @property
    def rounds(self) -> int:
        """How often each of two requests is made for one pair of medians."""
        return 1 if self.check else 15 if self.quick else 31

    @property
    def large_session(self) -> tuple[int, int]:
        """The events of a very large session, and the bytes of each output in it: 600 MB."""
        return (3_000, 2_500) if self.quick else (40_000, 22_500)

    @property
    def starts(self) -> int:
        """How often a server is started."""
        return 3 if self.quick else 11

    @property
    def stretches(self) -> int:
        """How many stretches of load each server is given."""
        return 3 if self.quick else 7

    @property
    def stretch_seconds(self) -> float:
        """How long each of them is."""
        return 0.5 if self.quick else 2.0

    @property
    def depth(self) -> int:
        """How deep the deepest page is, in messages."""
        return 10_000 if self.quick else 1_000_000
