"""The process that records spools: started apart, and started again if it fails.

What it does is the commands' affair; here it is a module's name. It goes on when the editor ends
this process and all that belongs to it, until what is in the spool is recorded.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolfold.settings import Settings

MODULE = "toolfold.cli.acp_recorder"
_FIRST_PAUSE_SECONDS = 2.0
_LAST_PAUSE_SECONDS = 60.0


def start(settings: "Settings", *spools: Path) -> "subprocess.Popen[bytes]":
    """Start a process that records these spools, and those that no one records any more."""
    # What is secret in a URL is for no list of processes.
    environment = os.environ | {
        "TOOLFOLD_DATA_DIR": str(settings.data_dir.absolute()),
        "TOOLFOLD_DATABASE_URL": settings.database_url,
    }
    # Python is not to find modules in the folder that the agent works in.
    command = [sys.executable, "-P", "-m", MODULE, *map(os.fspath, spools)]
    return subprocess.Popen(  # noqa: S603 (our own)
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def start_apart(settings: "Settings") -> None:
    """Have a process record the spools that no one records."""
    threading.Thread(target=start(settings).wait, name="toolfold-recorder", daemon=True).start()


def keep_running(settings: "Settings", spool: Path) -> None:
    """Have a spool recorded by a process that is started again, ever later, when it fails."""
    # Here and now: an agent may end before the thread has begun.
    first = start(settings, spool)

    def run() -> None:
        process = first
        pause = _FIRST_PAUSE_SECONDS
        while process.wait() != 0:
            time.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE_SECONDS)
            process = start(settings, spool)

    threading.Thread(target=run, name="toolfold-recorder", daemon=True).start()
