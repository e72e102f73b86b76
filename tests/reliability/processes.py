"""Server processes over one database, and what is left in it."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import httpx
from click.testing import CliRunner

from tests.bench import commands
from tests.bench.client import Client
from tests.bench.commands import Server
from toolfold.cli.commands import program
from toolfold.settings import Settings

READY_SECONDS = 30
_POLL_SECONDS = 0.01
_LOG = "server.log"


@contextlib.contextmanager
def serving(settings: Settings, place: Path, **variables: object) -> Iterator[Server]:
    """Serve a database by a process of its own; what it tells as errors is `logged(place)`."""
    database = settings.database_url or settings.data_dir
    variables = {"TOOLFOLD_DATA_DIR": settings.data_dir, **variables}
    with commands.toolfold(database, place / _LOG, **variables) as server:
        yield server


def logged(place: Path) -> str:
    """Return what servers of this place have told as errors."""
    return (place / _LOG).read_text(encoding="utf-8", errors="replace")


class Restarted:
    """A server that is killed and started again; clients ask it where it is now."""

    def __init__(self, settings: Settings, place: Path) -> None:
        self._settings = settings
        self._place = place
        self._stack = contextlib.ExitStack()
        self._server: Server | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stack.close()

    @property
    def server(self) -> Server:
        """The server that was started last."""
        assert self._server is not None
        return self._server

    def connect(self) -> Client:
        """Return a connection to the server that was started last, and is closed with it."""
        return self.server.connect()

    def connect_apart(self) -> Client:
        """Return a connection that a client closes in its own thread, maybe after the server."""
        return Client(self.server.host, self.server.port)

    def start(self) -> float:
        """Start a server; return the seconds until `/readyz` answered that it is ready."""
        begun = time.perf_counter()
        self._server = self._stack.enter_context(serving(self._settings, self._place))
        until_ready(self._server)
        return time.perf_counter() - begun

    def kill(self) -> None:
        """Kill the server as `kill -9` does."""
        os.kill(self.server.pid, signal.SIGKILL)
        self._stack.close()


def until_ready(server: Server) -> None:
    """Wait until a server says that it is ready.

    Raises:
        TimeoutError: if it does not.
    """
    deadline = time.monotonic() + READY_SECONDS
    url = f"http://{server.host}:{server.port}/readyz"
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, trust_env=False).status_code == httpx.codes.OK:
                return
        time.sleep(_POLL_SECONDS)
    raise TimeoutError(f"The server was not ready within {READY_SECONDS} s.")


def toolfold(settings: Settings, *arguments: object) -> str | None:
    """Run a command on a database; return what it tells if it fails, None if it does not."""
    place: list[object] = ["--data-dir", settings.data_dir]
    if settings.database_url:
        place += ["--database-url", settings.database_url]
    done = CliRunner().invoke(program, [str(argument) for argument in (*arguments, *place)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return f"{done.stdout}{done.stderr}" if done.exit_code else None


def doctor(settings: Settings) -> str | None:
    """Return what `toolfold doctor` finds wrong with a database; None if nothing."""
    return toolfold(settings, "doctor")
