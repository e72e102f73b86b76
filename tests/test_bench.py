"""The bench compares like with like: the same JSON from GraphQL and REST. It times nothing here."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.bench import plot, report
from tests.bench.__main__ import GROUPS
from tests.bench.curves import Curve

pytestmark = pytest.mark.linux


def test_graphql_and_rest_answer_the_same_json_in_the_bench(tmp_path: Path) -> None:
    output = tmp_path / "benchmarks.md"
    command = [sys.executable, "-m", "tests.bench", "--check", "--output", str(output)]
    groups = ("pages", "contents")
    for name in groups:
        command += ["--only", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own)
    assert done.returncode == 0, done.stderr
    text = output.read_text(encoding="utf-8")
    for name in groups:
        assert f"## {report.TITLES[name]}" in text
        assert report.command(name) in text
    assert "page of 1,000 messages" in text


def test_every_group_of_figures_has_its_heading() -> None:
    assert report.TITLES.keys() == GROUPS.keys()


def test_the_plot_draws_every_point_between_its_axes() -> None:
    points: list[tuple[int, float, float | None]] = [(1, 2.0, 1.0), (50, 3.5, 3.0), (1_000, 9, 8.5)]
    root = ET.fromstring(plot.svg([Curve("A & B", "messages", points)]))  # noqa: S314 (ours)
    name = "{http://www.w3.org/2000/svg}"
    circles = root.findall(f".//{name}circle")
    assert len(circles) == 2 * len(points)
    grid = [float(line.attrib["y1"]) for line in root.findall(f".//{name}line")]
    heights = [float(circle.attrib["cy"]) for circle in circles]
    assert min(grid) <= min(heights)
    assert max(heights) <= max(grid)
    labels = [text.text for text in root.iter(f"{name}text")]
    assert {"A & B", "messages", "1", "50", "1,000", "Toolfold", "REST"} <= set(labels)
