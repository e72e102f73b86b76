"""Run a command and write the most memory that it held: `python -m tests.bench.peak FILE COMMAND…`.

A process inherits the peak of the one that starts it, so a small one stands between.
"""

import resource
import subprocess
import sys
from pathlib import Path

_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> int:
    """Write the peak in bytes to FILE and return the command's exit code."""
    file, *command = sys.argv[1:]
    code = subprocess.call(command)  # noqa: S603 (our own)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT
    Path(file).write_text(str(peak), encoding="ascii")
    return code


if __name__ == "__main__":
    sys.exit(main())
