"""A server that runs as people run it."""

import contextlib
import re
import subprocess
from collections.abc import Iterator, Sequence

from tests.cli.conftest import TOOLFOLD, process


@contextlib.contextmanager
def serving(
    *arguments: object, toolfold: Sequence[str] = TOOLFOLD
) -> Iterator[tuple["subprocess.Popen[bytes]", list[str]]]:
    """Start a server and give it with the lines that it printed when it could be reached."""
    with process("serve", "--port", 0, *arguments, toolfold=toolfold) as server:
        try:
            assert server.stdout is not None
            lines: list[str] = []
            while not lines or not lines[-1].startswith("toolfold import"):
                line = server.stdout.readline().decode()
                assert line, server.stderr.read() if server.stderr else None
                lines.append(line.rstrip("\n"))
            yield server, lines
        finally:
            server.kill()


def graphql_url(lines: list[str]) -> str:
    """Return the address that a server printed."""
    match = re.search(r"http://127\.0\.0\.1:\d+/graphql", lines[0])
    assert match is not None
    return match[0]
