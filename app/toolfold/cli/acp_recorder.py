"""The process that records what `toolfold acp` spools; what it has to tell is in its log."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from toolfold.cli.acp_recording import record_ended, record_live
from toolfold.errors import AppError
from toolfold.proxy import places
from toolfold.settings import Settings

_NICENESS = 5
"""The agent and the editor come first."""


async def record(settings: Settings, live: Sequence[Path]) -> int:
    """Record these spools while they grow, and all that no one records; return the exit code."""
    results = await asyncio.gather(
        *(record_live(settings, path) for path in live),
        _record_left_over(settings, {path.resolve() for path in live}),
        return_exceptions=True,
    )
    return int(any(isinstance(result, BaseException) for result in results))


async def _record_left_over(settings: Settings, live: Collection[Path]) -> None:
    for path in places.waiting(settings):
        # A process that closes a file for a second time gives up its lock.
        if path.resolve() in live:
            continue
        # It stays, and the next one tries again.
        with contextlib.suppress(AppError, OSError, ValueError):
            await record_ended(settings, path)


def main() -> None:
    """Record the spools that the arguments name, and those that are left over."""
    os.nice(_NICENESS)
    settings = Settings.from_environment()
    _keep_log(places.folder(settings) / places.LOG)
    sys.exit(asyncio.run(record(settings, list(map(Path, sys.argv[1:])))))


def _keep_log(path: Path) -> None:
    """Have what this process logs written to a file, which is made when there is any of it."""
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("toolfold.cli").setLevel(logging.INFO)


if __name__ == "__main__":
    main()
