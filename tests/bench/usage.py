"""Run a command and write what it used: `python -m tests.bench.usage FILE COMMAND…`.

Its memory is that of all its processes together, looked at ten times a second: pages that
they share are counted once (Linux's PSS). Elsewhere it is the peak of the largest of them.
"""

import re
import resource
import subprocess
import sys
import time
from pathlib import Path

_UNIT = 1 if sys.platform == "darwin" else 1024
_PROCESSES = Path("/proc")
_SECONDS = 0.1
_PSS = re.compile(rb"^Pss:\s+(\d+)", re.MULTILINE)


def main() -> int:
    """Write peak memory in bytes and CPU seconds to FILE, and return the command's exit code."""
    file, *command = sys.argv[1:]
    peak = 0
    with subprocess.Popen(command) as process:  # noqa: S603 (our own)
        while process.poll() is None:
            peak = max(peak, _together(process.pid))
            time.sleep(_SECONDS)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = peak or used.ru_maxrss * _UNIT
    Path(file).write_text(f"{peak} {used.ru_utime + used.ru_stime}", encoding="ascii")
    return process.returncode


def _together(pid: int) -> int:
    """Return what a process and those below it hold; 0 for one that has ended."""
    place = _PROCESSES / str(pid)
    try:
        found = _PSS.search((place / "smaps_rollup").read_bytes())
        own = int(found[1]) * 1024 if found else 0
        below = (place / "task" / str(pid) / "children").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return own + sum(_together(int(child)) for child in below)


if __name__ == "__main__":
    sys.exit(main())
