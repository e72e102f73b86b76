"""An import gives back what it has freed."""

import subprocess
import sys

import pytest

KEPT = """
import sys
from pathlib import Path
from toolfold.cli.allocation import give_back_what_is_large

def held():
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("RssAnon:")[2].split()[0]) * 1024

if sys.argv[1] == "gives back":
    give_back_what_is_large()
before = held()
small = []
for _ in range(3):
    large = b"x" * 20_000_000
    small.append(b"y" * 100_000)  # Above it, where the allocator put it.
    del large
print(held() - before)
"""


@pytest.mark.linux
def test_what_a_large_value_took_is_given_back_with_it() -> None:
    kept = {}
    for name in ("gives back", "keeps"):
        command = [sys.executable, "-c", KEPT, name]
        kept[name] = int(subprocess.run(command, check=True, capture_output=True).stdout)  # noqa: S603
    assert kept["gives back"] < 5_000_000
    # Else the C library needs no telling.
    assert kept["keeps"] > 15_000_000
