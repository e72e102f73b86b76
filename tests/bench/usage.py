"""Run a command and write what it used: `python -m tests.bench.usage FILE COMMAND…`.

A process inherits the peak of the one that starts it, so a small one stands between.
"""

import resource
import subprocess
import sys
from pathlib import Path

_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> int:
    """Write peak memory in bytes and CPU seconds to FILE, and return the command's exit code."""
    file, *command = sys.argv[1:]
    code = subprocess.call(command)  # noqa: S603 (our own)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = f"{used.ru_maxrss * _UNIT} {used.ru_utime + used.ru_stime}"
    Path(file).write_text(told, encoding="ascii")
    return code


if __name__ == "__main__":
    sys.exit(main())
