"""Commands on a terminal of their own: what a person sees."""

import os
import pty
import re
import subprocess
from collections.abc import Iterator

from tests.cli.conftest import process

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def on_terminal(*arguments: object) -> "subprocess.Popen[bytes]":
    """Start a command whose standard output is a terminal; `screen` reads and ends it."""
    ours, theirs = pty.openpty()
    started = process(*arguments, stdout=theirs)
    os.close(theirs)
    started.stdout = os.fdopen(ours, "rb", buffering=0)
    return started


def screen(started: "subprocess.Popen[bytes]") -> str:
    """Return all that is printed until the command ends, without escape sequences."""
    return _SEQUENCE.sub("", b"".join(_output(started)).decode("utf-8").replace("\r\n", "\n"))


def _output(started: "subprocess.Popen[bytes]") -> Iterator[bytes]:
    assert started.stdout is not None
    # Linux tells the end of a terminal by an error.
    with started:
        try:
            while piece := started.stdout.read(65_536):
                yield piece
        except OSError:
            pass
