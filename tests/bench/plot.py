"""The curves as an SVG that can be read on light and on dark ground."""

import math
from collections.abc import Sequence
from html import escape

from tests.bench.curves import Curve

_WIDTH, _HEIGHT = 340, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 26, 44, 52
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 } .ground { fill: #ffffff }
.grid { stroke: #d0d7de; stroke-width: 1 } .line { fill: none; stroke-width: 2 }
.own { stroke: #0969da; fill: #0969da } .rest { stroke: #bc4c00; fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .ground { fill: #0d1117 } .grid { stroke: #30363d }
  .own { stroke: #58a6ff; fill: #58a6ff } .rest { stroke: #f0883e; fill: #f0883e }
}
.line { fill: none } .name { stroke: none }
"""


def svg(curves: Sequence[Curve]) -> str:
    """Return the curves side by side; times have one scale from 0, places a logarithmic one."""
    width = _WIDTH * len(curves)
    size = f'width="{width}" height="{_HEIGHT}"'
    box = f'viewBox="0 0 {width} {_HEIGHT}" {size}'
    label = "Milliseconds of a page by Toolfold and by REST"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" aria-label="{label}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" {size}/>',
    ]
    for number, curve in enumerate(curves):
        parts.append(f'<g transform="translate({number * _WIDTH} 0)">')
        parts += _panel(curve)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(curve: Curve) -> list[str]:
    top = _round_up(max(max(own, rest or 0) for _, own, rest in curve.points))
    low, high = curve.points[0][0], curve.points[-1][0]

    def across(place: float) -> float:
        part = math.log(place / low) / math.log(high / low)
        return _LEFT + part * (_WIDTH - _LEFT - _RIGHT)

    def up(milliseconds: float) -> float:
        return _HEIGHT - _BOTTOM - milliseconds / top * (_HEIGHT - _TOP - _BOTTOM)

    parts = [_text(_LEFT, 20, curve.title, "title")]
    for step in range(5):
        value = top * step / 4
        y = up(value)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(_text(_LEFT - 6, y + 4, f"{value:g}", anchor="end"))
    parts.append(_text(_LEFT, _TOP - 8, "ms"))
    parts += [
        _text(across(place), _HEIGHT - _BOTTOM + 18, _short(place), anchor="middle")
        for place in _labelled([point[0] for point in curve.points])
    ]
    parts.append(_text((_LEFT + _WIDTH) / 2, _HEIGHT - 14, curve.axis, anchor="middle"))
    own = [(across(place), up(value)) for place, value, _ in curve.points]
    rest = [(across(place), up(value)) for place, _, value in curve.points if value is not None]
    parts += _line(rest, "rest") + _line(own, "own")
    for position, (name, kind) in enumerate((("Toolfold", "own"), ("REST", "rest"))):
        x = _WIDTH - _RIGHT - 130 + 75 * position
        parts.append(_text(x, _TOP - 8, name, f"name {kind}"))
    return parts


def _line(points: Sequence[tuple[float, float]], kind: str) -> list[str]:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
    return [f'<polyline class="line {kind}" points="{places}"/>', *dots]


def _text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _labelled(places: Sequence[int]) -> Sequence[int]:
    """Return the places that are told, so that their labels do not touch."""
    return places if len(places) < 6 else [*places[:-1:2], places[-1]]


def _short(number: int) -> str:
    for size, unit in ((2**20, "Mi"), (2**10, "Ki")):
        if number >= size and number % size == 0:
            return f"{number // size} {unit}"
    return f"{number:,}"


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 8 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 8, 10, 20) if step * power >= value)
