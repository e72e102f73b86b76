"""What the figures were taken on."""

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from toolfold.store import dialect

PACKAGES = (
    "strawberry-graphql",
    "graphql-core",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "orjson",
    "zstandard",
)


def facts(module: str = "tests.bench") -> Iterator[str]:
    """Yield the command, which ran `module`, and the machine, a line each."""
    yield f"command: python -m {module} {shlex.join(sys.argv[1:])}".rstrip()
    yield f"commit: {_commit()}"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    load = ", ".join(f"{number:.2f}" for number in os.getloadavg())
    yield (
        f"machine: {_processor()}, {os.cpu_count()} cores, {memory / 2**30:.0f} GiB,"
        f" {platform.system()} {platform.release()}; load before: {load}"
    )
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    yield f"Python {platform.python_version()}, SQLite {dialect.MODULE.sqlite_version}, {packages}"


def _commit() -> str:
    done = subprocess.run(
        ("git", "describe", "--always", "--dirty"),  # noqa: S607 (whichever git there is)
        capture_output=True,
        check=False,
        text=True,
    )
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
