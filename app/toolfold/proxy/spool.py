"""Spool files: who writes one, and who records one.

A process that writes a spool and one that records it each hold a lock in it, which the operating
system lets go of with the process, however it ended, and also when the process closes the file, be
it that it had it open twice. Only this user can read the files.
"""

import fcntl
import os
import time
from pathlib import Path

from toolfold.proxy.frames import Run, first_line
from toolfold.proxy.places import FOLDER, SUFFIX, folder
from toolfold.settings import Settings

WRITER = 0
RECORDER = 1
"""The bytes of a file that stand for its writer and its recorder, as far as locks go."""


def create(settings: Settings, run: Run) -> tuple[Path, int]:
    """Make a spool; return its path, and it opened for writing, with the writer's lock.

    Raises:
        OSError: if it cannot be made.
    """
    spools = folder(settings)
    for parent in (settings.data_dir, settings.data_dir / FOLDER, spools):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        when = time.strftime("%Y%m%dT%H%M%S", time.localtime(seconds))
        name = f"{when}-{nanoseconds:09}-{os.getpid()}"
        path = spools / f"{name}{SUFFIX}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        except FileExistsError:
            continue
        lock(descriptor, WRITER)
        os.write(descriptor, first_line(run))
        return path, descriptor


def lock(descriptor: int, who: int) -> bool:
    """Take a spool's lock, and say whether that went well: no other process has it."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, who)
    except OSError:
        return False
    return True


def is_held(descriptor: int, who: int) -> bool:
    """Say whether another process has a spool's lock."""
    if not lock(descriptor, who):
        return True
    fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, who)
    return False
