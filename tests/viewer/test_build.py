"""When the viewer is built, by which Node, and what is said where there is none."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.viewer.conftest import VIEWER, build_of_viewer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The viewer's sources as a checkout has them."""
    made = shutil.ignore_patterns("dist", "node_modules", "__pycache__")
    return Path(shutil.copytree(VIEWER, tmp_path / "viewer", ignore=made))


def test_a_build_is_up_to_date_until_a_source_is_changed_added_or_taken_away(folder: Path) -> None:
    build = build_of_viewer(folder)
    assert not build.is_up_to_date()
    stamp = folder / "dist" / "sources.sha256"
    stamp.parent.mkdir()
    stamp.write_text(build.stamp_of_sources(), encoding="ascii")
    assert build.is_up_to_date()
    page = folder / "graphiql.html"
    was = page.read_bytes()
    page.write_bytes(was + b"\n")
    assert not build.is_up_to_date()
    page.write_bytes(was)
    assert build.is_up_to_date()
    page.rename(folder / "other.html")
    assert not build.is_up_to_date()
    (folder / "other.html").rename(page)
    (folder / "src" / "new.ts").write_bytes(b"")
    assert not build.is_up_to_date()


def test_what_was_installed_and_built_is_no_source(folder: Path) -> None:
    build = build_of_viewer(folder)
    before = build.stamp_of_sources()
    for name in ("dist", "node_modules", "__pycache__"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "made.js").write_bytes(b"made")
    assert build.stamp_of_sources() == before


@pytest.mark.parametrize(
    ("version", "suits"),
    [
        ((18, 20), False),
        ((20, 18), False),
        ((20, 19), True),
        ((21, 7), False),
        ((22, 11), False),
        ((22, 12), True),
        ((24, 0), True),
        ((), False),
    ],
)
def test_the_build_takes_the_versions_of_node_that_vite_does(
    version: tuple[int, ...], *, suits: bool
) -> None:
    assert build_of_viewer()._suits(version) is suits  # noqa: SLF001 (no Node here is of all versions)


@pytest.mark.parametrize(("options", "code"), [((), 1), (("--if-possible",), 0)])
def test_without_node_the_ways_out_are_told(
    folder: Path, options: tuple[str, ...], code: int
) -> None:
    done = subprocess.run(  # noqa: S603 (our own)
        [sys.executable, folder / "hatch_build.py", *options],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert "takes Node.js 20.19 or newer with npm: there is none." in done.stderr
    for way in ("install Node.js", "--no-build-isolation", "a wheel", "TOOLFOLD_SKIP_VIEWER=1"):
        assert way in done.stderr
    assert not (folder / "dist").exists()


def test_a_step_that_fails_leaves_no_stamp(folder: Path) -> None:
    programs = folder.parent / "programs"
    programs.mkdir()
    for name, text in {"node": "echo v24.0.0", "npm": "exit 3"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        (programs / name).chmod(0o755)
    done = subprocess.run(  # noqa: S603 (our own)
        [sys.executable, folder / "hatch_build.py"],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "npm ci --no-audit --no-fund --ignore-scripts ended with 3." in done.stderr
    assert not (folder / "dist").exists()


def test_the_lock_names_each_package_by_its_hash_and_no_registry() -> None:
    lock = json.loads((VIEWER / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert [name for name, package in packages.items() if "resolved" in package] == []
