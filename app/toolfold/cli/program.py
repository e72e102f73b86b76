"""The command `toolfold` itself: how a failure and Ctrl-C look, whichever command was running."""

import io
import sys
from typing import Any

import click

from toolfold.cli.terminal import one_line
from toolfold.errors import AppError

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""

MAX_ERROR_CHARACTERS = 2_000


class Program(click.Group):
    """A group of commands that tells an expected failure in one line and exits with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        _print_all_characters()
        try:
            return super().invoke(ctx)
        except AppError as error:
            raise click.ClickException(one_line(error.message, MAX_ERROR_CHARACTERS)) from error
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's)
        """Return the commands in the order in which a newcomer meets them."""
        return list(self.commands)


def _print_all_characters() -> None:
    """Print a question mark for what the output's encoding does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
