"""The table: what was measured, what stands beside it, and whether a bound holds."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure may be at most or at least, and whether it is.

    `holds` is None for a target that is not due yet: the table tells it and judges nothing.
    """

    text: str
    holds: bool | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; `beside` is what `measured` is compared with."""

    name: str
    measured: str
    beside: str = ""
    ratio: str = ""
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    figure: str
    measured: str
    beside: str
    ratio: str
    bound: str
    verdict: str


_HEAD = _Line("figure", "Toolfold", "beside", "ratio", "bound", "")
_VERDICTS = {None: "", True: "holds", False: "MISSED"}


def table(figures: Iterable[Figure]) -> str:
    """Return the figures as a Markdown table whose columns are aligned."""
    rows = [astuple(_HEAD), *(astuple(_line(figure)) for figure in figures)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))


def at_most(value: float, limit: float, text: str) -> Bound:
    """Return the bound `limit`, told as `text`, that `value` may not exceed."""
    return Bound(f"≤ {text}", value <= limit)


def at_least(value: float, limit: float, text: str) -> Bound:
    """Return the bound `limit`, told as `text`, that `value` may not fall below."""
    return Bound(f"≥ {text}", value >= limit)


def later(text: str) -> Bound:
    """Return a target of the design that another issue brings."""
    return Bound(f"later: {text}")


def milliseconds(seconds: float) -> str:
    """Return a time with three digits."""
    value = seconds * 1_000
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} ms"


def mebibytes(size: float) -> str:
    """Return bytes in MiB."""
    return f"{size / 2**20:,.1f} MiB"


def times(ratio: float) -> str:
    """Return how many times as much something is."""
    return f"{ratio:.2f}x"


def _line(figure: Figure) -> _Line:
    bound = figure.bound or Bound("")
    return _Line(
        figure.name,
        figure.measured,
        figure.beside,
        figure.ratio,
        bound.text,
        _VERDICTS[bound.holds],
    )
