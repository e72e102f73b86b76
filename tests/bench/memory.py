"""Memory of other processes, and what this one reads, as Linux counts them."""

import re
from pathlib import Path

_PROCESSES = Path("/proc")


def resident_bytes(pid: int) -> int:
    """Return how much memory a process holds now."""
    return _status(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return the most that a process has held since its start, or since `forget_peak`."""
    return _status(pid, "VmHWM")


def forget_peak(pid: int) -> None:
    """Let the peak of a process be what it holds now."""
    (_PROCESSES / str(pid) / "clear_refs").write_text("5", encoding="ascii")


def file_reads() -> int:
    """Return how often this process has read from a file so far, cached by the system or not.

    SQLite reads a page that is not in its own cache with one call of `pread`, and an overflow
    page as far as it needs it.
    """
    counters = (_PROCESSES / "self" / "io").read_text(encoding="ascii")
    return _number(counters, "syscr")


def _status(pid: int, name: str) -> int:
    status = (_PROCESSES / str(pid) / "status").read_text(encoding="utf-8")
    return _number(status, name) * 1024


def _number(text: str, name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    if match is None:
        raise LookupError(f"The system does not tell {name}.")
    return int(match[1])
