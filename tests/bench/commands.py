"""Processes: Toolfold's commands and servers as people run them."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.client import Client

TOOLFOLD = (sys.executable, "-c", "from toolfold.cli import main; main()")
"""The console script, whatever is on the path."""

REST = (sys.executable, "-m", "tests.bench.rest")

_URL = re.compile(r"http://(127\.0\.0\.1):(\d+)")


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended well: its wall time and CPU time, the most memory it held at once."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Server:
    """A server that can be reached, and one connection to it.

    What `connect` gives is closed with it.
    """

    pid: int
    host: str
    port: int
    client: Client
    connections: contextlib.ExitStack

    def connect(self) -> Client:
        """Return another connection; one that rests for over 5 s is closed by the server."""
        client = Client(self.host, self.port)
        self.connections.callback(client.close)
        return client


def run(arguments: Sequence[object], place: Path) -> Finished:
    """Run `toolfold` with these arguments to its end, in a process of its own.

    Raises:
        RuntimeError: with what it printed, if it fails.
    """
    file = place / "usage"
    command = [sys.executable, "-m", "tests.bench.usage", str(file), *TOOLFOLD]
    start = time.perf_counter()
    done = subprocess.run(  # noqa: S603 (our own)
        [*command, *map(str, arguments)],
        env=_environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"toolfold {arguments[0]} failed:\n{done.stdout.decode()}")
    peak, cpu_seconds = file.read_text(encoding="ascii").split()
    return Finished(seconds, float(cpu_seconds), int(peak))


@contextlib.contextmanager
def toolfold(database: Path | str, log: Path | None = None, **settings: object) -> Iterator[Server]:
    """Serve a data directory or a URL with `toolfold serve`; `settings` are of its environment.

    What it prints as errors is added to the file `log`, if one is named.
    """
    option = "--data-dir" if isinstance(database, Path) else "--database-url"
    command = [*TOOLFOLD, "serve", "--port", "0", option, str(database)]
    variables = {name: str(value) for name, value in settings.items()}
    with serving(command, variables, log) as server:
        yield server


@contextlib.contextmanager
def rest(database: Path | str) -> Iterator[Server]:
    """Serve the hand-written routes over the same database file, or URL."""
    with serving([*REST, str(database)], {}) as server:
        yield server


@contextlib.contextmanager
def serving(
    command: Sequence[str], settings: Mapping[str, str], log: Path | None = None
) -> Iterator[Server]:
    """Serve with a command that prints its URL; `settings` are variables of its environment."""
    with contextlib.ExitStack() as stack:
        errors = None if log is None else stack.enter_context(log.open("ab"))
        process = stack.enter_context(
            subprocess.Popen(  # noqa: S603 (our own)
                command, env=_environment(settings), stdout=subprocess.PIPE, stderr=errors
            )
        )
        try:
            # npm's packages may have something else to say first.
            lines = map(bytes.decode, process.stdout or ())
            line = next(filter(_URL.search, lines), "")
            match = _URL.search(line)
            if match is None:
                raise RuntimeError(f"No server: {line or 'it printed nothing'}")
            connections = stack.enter_context(contextlib.ExitStack())
            client = Client(match[1], int(match[2]))
            connections.callback(client.close)
            yield Server(process.pid, match[1], int(match[2]), client, connections)
        finally:
            process.kill()


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with no settings of Toolfold but these."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TOOLFOLD_", "CHAT_COMPACT"))
    }
    return own | dict(settings)
