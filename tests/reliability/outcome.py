"""What a run came to: figures for the table, and faults, of which there should be none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.bench.figures import Bound, Figure


@dataclass(slots=True)
class Outcome:
    """`faults` are broken promises, in words; `figures` what was measured on the way."""

    figures: list[Figure] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def tell(self, name: str, measured: object, bound: Bound | None = None) -> None:
        """Note a figure."""
        shown = f"{measured:,}" if isinstance(measured, int) else str(measured)
        self.figures.append(Figure(name, shown, bound=bound))

    def require(self, holds: bool, fault: str) -> None:  # noqa: FBT001 (as `assert` reads)
        """Note a fault unless something holds."""
        if not holds:
            self.faults.append(fault)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed; NaN if there are none."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan
