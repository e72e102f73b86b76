"""`toolfold serve`: the server on this machine's own address, until Ctrl-C."""

import asyncio
import contextlib
import dataclasses
import errno
import gc
import signal
import socket

import click
import uvicorn
from starlette.applications import Starlette

from toolfold.cli.opening import opened, owned
from toolfold.cli.options import command_with, with_settings
from toolfold.cli.terminal import say
from toolfold.errors import DatabaseError, SettingsError
from toolfold.proxy import places, recorder
from toolfold.server import create_app, stopping
from toolfold.server.viewer import Pages
from toolfold.settings import Settings
from toolfold.store.ownership import Ownership

HOST = "127.0.0.1"
GRACE_SECONDS = 2
OBJECTS_BETWEEN_COLLECTIONS = 10_000

_PAGE = "{ sessions(first: 1) { nodes { messages(first: 20%s) { nodes { %s } } } } }"
_QUERIES = {
    "The latest sessions:": "{ sessions(first: 5) { nodes { id title messageCount } } }",
    "A page of messages, which reads no tool content:": _PAGE
    % ("", "sequence role contentPreview toolMetadata { title status contentSize }"),
    "A page with the output of commands; what is large says `contentOmitted`:": _PAGE
    % (
        ", filter: {toolKinds: [EXECUTE]}",
        "toolMetadata { title content contentOmitted { reason size } }",
    ),
}
"""What to try first, and what it shows."""


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    help="Also TOOLFOLD_PORT; 7878 if neither is given. 0 takes any that is free.",
)
@click.option(
    "--trusted-documents",
    metavar="FILE",
    help="A manifest of documents that clients ask for by hash. Also TOOLFOLD_TRUSTED_DOCUMENTS.",
)
@click.option(
    "--trusted-documents-only",
    is_flag=True,
    help="Execute no other document. Also TOOLFOLD_TRUSTED_DOCUMENTS_ONLY.",
)
@with_settings
def serve(
    settings: Settings,
    port: int | None,
    trusted_documents: str | None,
    trusted_documents_only: bool,  # noqa: FBT001 - click's.
) -> None:
    """Serve GraphQL on this machine, until Ctrl-C.

    The address is 127.0.0.1: only programs on this machine can reach it. An empty database is set
    up first. A SQLite database has one server at most; `toolfold import` beside it goes through it.
    """
    if port is not None:
        settings = dataclasses.replace(settings, port=port)
    if trusted_documents is not None:
        settings = dataclasses.replace(settings, trusted_documents=trusted_documents)
    if trusted_documents_only:
        settings = dataclasses.replace(settings, trusted_documents_only=True)
    app = create_app(settings)
    with owned(settings) as ownership:
        asyncio.run(_set_up(settings))
        _serve(app, settings, ownership)


def _serve(app: Starlette, settings: Settings, ownership: Ownership | None) -> None:
    with _bound(settings.port) as bound:
        config = uvicorn.Config(
            app,
            lifespan="on",
            log_level="warning",
            access_log=False,
            ws_max_size=settings.max_body_bytes,
            # Whoever still downloads or listens is not waited for longer.
            timeout_graceful_shutdown=GRACE_SECONDS,
            # Nothing stands before it that could be believed about who asks.
            proxy_headers=False,
            server_header=False,
        )
        server = _Server(app, config, settings, bound, ownership)
        # Ctrl-C and SIGTERM are how serving ends: uvicorn has closed everything when it tells so.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[bound])
    if server.failure is not None:
        raise server.failure


async def _set_up(settings: Settings) -> None:
    """Open and close the database: what is wrong with it is told before anything is served."""
    async with opened(settings, create=True):
        pass


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=2_048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            reason = f"Port {port} is in use: stop what uses it, or choose another with --port."
        else:
            reason = f"Port {port} cannot be used: {error.strerror}."
        raise SettingsError(reason) from error


class _Server(uvicorn.Server):
    """A server that says where it is once it can be reached, and ends if it cannot say so."""

    def __init__(
        self,
        app: Starlette,
        config: uvicorn.Config,
        settings: Settings,
        bound: socket.socket,
        ownership: Ownership | None,
    ) -> None:
        super().__init__(config)
        self._app = app
        self._settings = settings
        self._port: int = bound.getsockname()[1]
        self._ownership = ownership
        self.failure: OSError | DatabaseError | None = None
        """Why it could not be told where it is; the server has closed everything then."""

    async def main_loop(self) -> None:
        """Tell other processes where it is, print the URL and what to try, and serve."""
        # The schema and all else that is there stays: requests need not wait while it is looked at.
        gc.freeze()
        # A page of a thousand messages is a few thousand objects, and none of them is garbage:
        # by default they are looked through five times while it is made.
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        try:
            if self._ownership is not None:
                self._ownership.announce(HOST, self._port)
            for line in _welcome(f"http://{HOST}:{self._port}", self._settings):
                say(line)
        except (OSError, DatabaseError) as error:
            self.failure = error
        else:
            _record_left_over(self._settings)
            await super().main_loop()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let those go who follow something, wait a while for the others, and close everything."""
        stopping.of(self._app).set()
        await super().shutdown(sockets)


def _record_left_over(settings: Settings) -> None:
    """Have a process record what `toolfold acp` could not, if there is any of it."""
    # A folder that cannot be read is for `toolfold acp --record` to tell.
    with contextlib.suppress(OSError):
        if places.waiting(settings):
            recorder.start_apart(settings)


def _welcome(url: str, settings: Settings) -> list[str]:
    lines = [f"Toolfold serves GraphQL at {url}/graphql until Ctrl-C.", *_pages(url), "", "Try:"]
    curl = f"curl -s {url}/graphql -H 'content-type: application/json' -d"
    # None of them is likely to be in a manifest.
    examples = {} if settings.trusted_documents_only else _QUERIES
    for meaning, query in examples.items():
        lines += [f"# {meaning}", f'{curl} \'{{"query": "{query}"}}\'']
    lines.append("# Your own sessions, while this runs:")
    return [*lines, command_with(settings, "import ~/.claude/projects")]


def _pages(url: str) -> list[str]:
    if not Pages().are_built:
        return [f"The viewer is not built: {url} says how to build it."]
    return [f"See your sessions at {url}, and try queries at {url}/graphiql."]
