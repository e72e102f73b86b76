"""`pip install .` and the wheel bring a viewer that works, to machines that have no Node.

Everything is real: the registries, isolated builds, the browser. That takes minutes, so these run
in CI alone.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.serving import graphql_url, serving
from tests.viewer.conftest import TIMEOUT_MS, build_viewer

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", "schema.graphql")


@dataclass(frozen=True)
class Machine:
    """A virtual environment with nothing in it, on a path that has no Node."""

    folder: Path
    path: str

    @property
    def toolfold(self) -> str:
        return str(self.folder / "bin" / "toolfold")

    def run(self, *command: object, cwd: Path) -> None:
        """Run a program of the environment; a failure shows what it printed."""
        program, *arguments = map(str, command)
        done = subprocess.run(  # noqa: S603 (our own)
            [str(self.folder / "bin" / program), *arguments],
            cwd=cwd,
            env={**os.environ, "PATH": self.path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-5_000:]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return such a machine; `sh` is there, as it is everywhere."""
    folder = tmp_path_factory.mktemp("machine")
    (folder / "path").mkdir()
    shell = shutil.which("sh")
    assert shell is not None
    (folder / "path" / "sh").symlink_to(shell)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)  # noqa: S603
    path = f"{folder / 'venv' / 'bin'}{os.pathsep}{folder / 'path'}"
    assert shutil.which("node", path=path) is None
    return Machine(folder / "venv", path)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sources as a checkout has them: with nothing that was built or installed."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    made = shutil.ignore_patterns("dist", "node_modules", "__pycache__")
    shutil.copytree(ROOT / "app", folder / "app", ignore=made)
    shutil.copytree(ROOT / "docs", folder / "docs")
    return folder


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build both distributions from this folder, whose viewer is built; by suffix."""
    build_viewer()
    folder = tmp_path_factory.mktemp("distributions")
    command: Sequence[str | Path] = (sys.executable, "-m", "hatchling", "build", "-d", folder)
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 (our own)
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture
def clean(machine: Machine, tmp_path: Path) -> Iterator[Machine]:
    """Give the machine without Toolfold; what Toolfold needs may be there already."""
    yield machine
    machine.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", "toolfold", cwd=tmp_path)


@pytest.mark.packaging
def test_pip_install_of_a_checkout_gives_a_viewer_that_works(
    clean: Machine, sources: Path, tmp_path: Path, browser: Browser
) -> None:
    clean.run("python", "-m", "pip", "install", "--quiet", ".", cwd=sources)
    assert_pages_work(clean, tmp_path, browser)


@pytest.mark.packaging
def test_the_wheel_gives_a_viewer_that_works(
    clean: Machine, distributions: dict[str, Path], tmp_path: Path, browser: Browser
) -> None:
    clean.run("python", "-m", "pip", "install", "--quiet", distributions[".whl"], cwd=tmp_path)
    assert_pages_work(clean, tmp_path, browser)


@pytest.mark.packaging
def test_a_source_distribution_holds_sources_and_build_and_needs_no_node(
    clean: Machine, distributions: dict[str, Path], tmp_path: Path, browser: Browser
) -> None:
    with tarfile.open(distributions[".gz"]) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (folder / "app" / "viewer" / "src" / "graphiql" / "main.tsx").is_file()
    assert (folder / "app" / "viewer" / ".npmrc").is_file()
    assert not (folder / "app" / "viewer" / "node_modules").exists()
    # Nothing can be brought here but by pip, and no Node was.
    offline = ("--no-index", "--no-build-isolation", "--no-deps")
    clean.run("python", "-m", "pip", "install", "--quiet", "hatchling", "editables", cwd=tmp_path)
    clean.run("python", "-m", "pip", "install", "--quiet", *offline, ".", cwd=folder)
    assert_pages_work(clean, tmp_path, browser)


@pytest.mark.packaging
def test_the_wheel_holds_what_is_served_and_no_sources(distributions: dict[str, Path]) -> None:
    with zipfile.ZipFile(distributions[".whl"]) as archive:
        names = {Path(name) for name in archive.namelist()}
    built = {path for path in names if path.is_relative_to("toolfold/viewer")}
    assert {Path("toolfold/viewer/index.html"), Path("toolfold/viewer/graphiql.html")} <= built
    assert {path.parent.name for path in built} == {"viewer", "assets", ".vite"}
    assert not [path for path in names if path.suffix in (".tsx", ".ts", ".map")]


def assert_pages_work(machine: Machine, folder: Path, browser: Browser) -> None:
    """Open both pages of a server that runs from the installed package."""
    machine.run("toolfold", "sample", "--data-dir", folder / "data", cwd=folder)
    with serving("--data-dir", folder / "data", toolfold=(machine.toolfold,)) as (_, lines):
        url = graphql_url(lines).removesuffix("/graphql")
        page = browser.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(url)
        expect(page.locator("#root")).not_to_be_empty()
        page.goto(f"{url}/graphiql")
        expect(page.locator(".graphiql-query-editor .view-line").first).to_be_visible()
        page.close()
