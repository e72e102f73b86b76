"""The agent's process: started, told what its editor says, and ended as it ends.

Whoever looks from outside sees no difference to the agent itself: its exit code or the signal that
ended it, the end of its input, a reader of its output that goes away.
"""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from toolfold.proxy import copying
from toolfold.proxy.frames import FROM_AGENT, TO_AGENT
from toolfold.proxy.tape import Tape

NOT_FOUND = 127
NOT_STARTED = 126
"""The exit codes that shells have for a command that is not there, and one that cannot be run."""

_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_STDIN, _STDOUT = 0, 1


def run(command: Sequence[str], tape: Tape) -> NoReturn:
    """Run an agent on this process's standard input and output, and end as it ends."""
    signals = _Signals()
    try:
        process = subprocess.Popen(  # noqa: S603 (what the user says is the agent)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            # What else the editor hands on is the agent's; what is opened here is not.
            close_fds=False,
        )
    except OSError as error:
        sys.stderr.write(f"Error: {command[0]}: {error.strerror}.\n")
        sys.exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_STARTED)
    signals.go_to(process)
    tape.start()
    stop, stopped = os.pipe()
    threading.Thread(target=_pass_input, args=(process, tape), daemon=True).start()
    output = threading.Thread(target=_pass_output, args=(process, tape, stop), daemon=True)
    output.start()
    process.wait()
    signals.stay_here()
    os.close(stopped)
    output.join()
    failure = tape.end()
    if failure is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(
                f"toolfold: not all of this could be recorded: {failure.rstrip('.')}.\n"
            )
    _end_as(process.returncode)


def _pass_input(process: "subprocess.Popen[bytes]", tape: Tape) -> None:
    """Pass on what the editor says until it ends, or the agent takes no more."""
    assert process.stdin is not None  # noqa: S101 (it is a pipe)
    try:
        copying.copy(_STDIN, process.stdin.fileno(), lambda piece: tape.put(TO_AGENT, piece))
    except OSError:
        # The editor is to notice when it goes on writing.
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 (pathlib is slow to load)
            os.dup2(nothing.fileno(), _STDIN)
    process.stdin.close()


def _pass_output(process: "subprocess.Popen[bytes]", tape: Tape, stop: int) -> None:
    """Pass on what the agent says until it ends, or the editor takes no more."""
    assert process.stdout is not None  # noqa: S101 (it is a pipe)
    with contextlib.suppress(OSError):
        copying.copy_until(
            process.stdout.fileno(), _STDOUT, lambda piece: tape.put(FROM_AGENT, piece), stop
        )
    # An agent that goes on writing is to notice that its editor has gone.
    process.stdout.close()


class _Signals:
    """Signals to this process that are the agent's; those that it ignores stay ignored."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._taken = [
            number for number in _FORWARDED if signal.getsignal(number) is not signal.SIG_IGN
        ]
        for number in self._taken:
            signal.signal(number, self._forward)

    def go_to(self, process: "subprocess.Popen[bytes]") -> None:
        """Forward signals to this process, also those that came before it was there."""
        self._process = process
        for number in self._early:
            self._send(number)

    def stay_here(self) -> None:
        """Let signals end this process again."""
        for number in self._taken:
            signal.signal(number, signal.SIG_DFL)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif number != signal.SIGINT or not _is_in_foreground():
            self._send(number)

    def _send(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)


def _is_in_foreground() -> bool:
    """Say whether Ctrl-C on a terminal reaches the agent anyway, as it does all that run there."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _end_as(code: int) -> NoReturn:
    """End with an exit code, or by the signal whose number it has as a negative one."""
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    if code < 0:
        # Whatever there is to be learned from a core is in the agent's own.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    # The thread that waits for the editor's next word is not waited for.
    os._exit(code if code >= 0 else 128 - code)
