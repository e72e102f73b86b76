"""The table: what was measured, what stands beside it, and whether a bound holds."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure may be at most or at least, and whether it is."""

    text: str
    holds: bool


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


def verdict(bound: Bound | None) -> str:
    """Return in a word whether a bound holds."""
    return "" if bound is None else "holds" if bound.holds else "MISSED"


def table(figures: Iterable[Figure]) -> str:
    """Return the figures as a Markdown table whose columns are aligned."""
    return rows_of(astuple(_HEAD), (astuple(_line(figure)) for figure in figures))


def rows_of(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return lines below their headings as a Markdown table whose columns are aligned."""
    rows = [head, *lines]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    texts = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {line} |" for line in (texts[0], rule, *texts[1:]))


def at_most(value: float, limit: float, text: str) -> Bound:
    """Return the bound `limit`, told as `text`, that `value` may not exceed."""
    return Bound(f"≤ {text}", value <= limit)


def at_least(value: float, limit: float, text: str) -> Bound:
    """Return the bound `limit`, told as `text`, that `value` may not fall below."""
    return Bound(f"≥ {text}", value >= limit)


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
    bound = figure.bound
    return _Line(
        figure.name,
        figure.measured,
        figure.beside,
        figure.ratio,
        bound.text if bound else "",
        verdict(bound),
    )
