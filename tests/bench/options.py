"""What a run measures, and where it may write."""

from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """`quick` takes less of everything; `place` is a folder that the run removes at its end."""

    place: Path
    quick: bool
    import_mb: int
    sessions: int
    big: bool

    @property
    def rounds(self) -> int:
        """How often each of two requests is made for one pair of medians."""
        return 15 if self.quick else 31

    @property
    def depth(self) -> int:
        """How deep the deepest page is, in messages."""
        return 10_000 if self.quick else 100_000
