"""An editor that runs an agent through `toolfold acp`, and what is left when it is done."""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from tests.acp_conversation import Spoken
from tests.cli.conftest import TOOLFOLD, Run
from toolfold.importers.acp.methods import Side
from toolfold.proxy import places, spool
from toolfold.settings import Settings

T = TypeVar("T")
Process = subprocess.Popen[bytes]
PIECE_BYTES = 61
"""Into how much both sides cut what they say: amid characters, lines and messages."""


@contextlib.contextmanager
def agent_of(
    *command: object, options: Sequence[object] = (), environment: Mapping[str, str] | None = None
) -> Iterator[Process]:
    """Run `toolfold acp` with this agent; it is killed if the block leaves it running."""
    words = [*TOOLFOLD, "acp", *options, "--", *command]
    with subprocess.Popen(  # noqa: S603 (our own)
        [str(word) for word in words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={**os.environ, **(environment or {})},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def python_agent(code: str, environment: Mapping[str, str] | None = None) -> Iterator[Process]:
    """Run an agent that is a few lines of Python."""
    with agent_of(sys.executable, "-c", code, environment=environment) as process:
        yield process


def scripted(folder: Path, lines: Sequence[Spoken]) -> list[object]:
    """Return the command of an agent that holds its side of a conversation."""
    script = folder / "script.json"
    script.write_text(json.dumps([[side.name, raw.decode()] for side, raw in lines]))
    return [sys.executable, Path(__file__).with_name("scripted_agent.py"), script, PIECE_BYTES]


def middle(lines: Sequence[Spoken]) -> int:
    """Return how many lines there are before the editor's last word: the agent waits for it."""
    return max(place for place, (side, _) in enumerate(lines) if side is Side.CLIENT)


def converse(process: Process, lines: Sequence[Spoken]) -> None:
    """Hold the editor's side: say a line when it is its turn, hear each as it was said."""
    assert process.stdin is not None
    assert process.stdout is not None
    for side, raw in lines:
        line = raw + b"\n"
        if side is Side.AGENT:
            assert read(process, len(line)) == line
        else:
            for start in range(0, len(line), PIECE_BYTES):
                process.stdin.write(line[start : start + PIECE_BYTES])


def read(process: Process, count: int) -> bytes:
    """Read so many bytes of what the agent says, or as many as there are."""
    assert process.stdout is not None
    heard = bytearray()
    while len(heard) < count and (piece := process.stdout.read(count - len(heard))):
        heard += piece
    return bytes(heard)


def end(process: Process) -> tuple[int, bytes, bytes]:
    """End the input; return the exit code, and what was still said."""
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def end_with(process: Process, data: bytes) -> tuple[int, bytes, bytes]:
    """Say this, while all that comes back is read, and end the input."""
    output, errors = process.communicate(data, timeout=120)
    return process.returncode, output, errors


def wait_for(look: Callable[[], T], expected: T) -> None:
    """Look until what is expected is there, for half a minute at most."""
    deadline = time.monotonic() + 30
    while (seen := look()) != expected:
        assert time.monotonic() < deadline, seen
        # What is waited for is done by a process that is nicer than this one.
        time.sleep(0.05)


def left_over(settings: Settings) -> list[Path]:
    """Return the spools that there are."""
    return places.waiting(settings)


def record_rest(settings: Settings, run: Run, *options: object) -> None:
    """Wait until nobody records any more, and record what is left."""
    for path in left_over(settings):
        with contextlib.suppress(FileNotFoundError), path.open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX, 1, spool.RECORDER)
    result = run("acp", "--record", *options)
    assert (result.exit_code, result.stderr) == (0, "")
    assert left_over(settings) == []
