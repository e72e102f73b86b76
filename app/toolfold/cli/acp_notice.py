"""Why a spool is not recorded yet: left beside it by who tries, for who asks meanwhile."""

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

SUFFIX = ".waiting"


@dataclass(frozen=True, slots=True)
class Notice:
    """What went wrong, and when it is tried again."""

    reason: str
    again_at: datetime


def leave(spool: Path, reason: str, pause_seconds: float) -> None:
    """Say why a spool could not be recorded, and that it is tried again after a pause."""
    again_at = datetime.now(UTC) + timedelta(seconds=pause_seconds)
    said = orjson.dumps({"reason": reason, "againAt": again_at.isoformat()})
    # A disk that is full may be the reason.
    with contextlib.suppress(OSError):
        _beside(spool).write_bytes(said)


def remove(spool: Path) -> None:
    """Take back what was said: it is tried again now, or recorded."""
    with contextlib.suppress(OSError):
        _beside(spool).unlink(missing_ok=True)


def read(spool: Path) -> Notice | None:
    """Return what is said of a spool, None if nothing is."""
    try:
        said = orjson.loads(_beside(spool).read_bytes())
        return Notice(str(said["reason"]), datetime.fromisoformat(said["againAt"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _beside(spool: Path) -> Path:
    return spool.with_suffix(SUFFIX)
