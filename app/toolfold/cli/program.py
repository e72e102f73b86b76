"""The command `toolfold` itself: how a failure and Ctrl-C look, whichever command was running."""

from typing import Any

import click

from toolfold.errors import AppError

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""


class Program(click.Group):
    """A group of commands that tells an expected failure in one line and exits with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except AppError as error:
            raise click.ClickException(" ".join(error.message.split())) from error
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's)
        """Return the commands in the order in which a newcomer meets them."""
        return list(self.commands)
