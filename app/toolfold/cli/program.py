"""The command `toolfold` itself: how a failure and Ctrl-C look, whichever command was running."""

import contextlib
import gc
import importlib
import io
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from toolfold.cli import INTERRUPTED
from toolfold.cli.terminal import one_line, warn
from toolfold.errors import AppError

MAX_ERROR_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Deferred:
    """A command that is imported when it is asked for.

    `module` of this package has it as `attribute`; `summary` is the first sentence of its help.
    """

    module: str
    attribute: str
    summary: str


class Program(click.Group):
    """A group of commands that tells an expected failure in one line and exits with 1."""

    def __init__(self, name: str, *, deferred: Mapping[str, Deferred], **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self._deferred = deferred

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line to its end; output that cannot be written is a failure too."""
        _open_what_is_closed()
        _print_all_characters()
        try:
            return super().main(*args, **extra)
        except OSError as error:
            with contextlib.suppress(OSError):
                warn(f"Error: {one_line(_reason(error), MAX_ERROR_CHARACTERS)}")
            _discard_the_rest()
            sys.exit(1)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read what stands before the command's name."""
        with _told():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        with _told():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's)
        """Return the commands in the order in which a newcomer meets them."""
        return list(self._deferred)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (click's)
        """Import a command; None if there is none of this name."""
        deferred = self._deferred.get(cmd_name)
        if deferred is None:
            return None
        with _uncollected():
            module = importlib.import_module(f"toolfold.cli.{deferred.module}")
        return cast("click.Command", getattr(module, deferred.attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's)
        """Write what commands there are, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.summary) for name, one in self._deferred.items()])


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Tell an expected failure and Ctrl-C in click's way."""
    try:
        yield
    except AppError as error:
        raise click.ClickException(one_line(error.message, MAX_ERROR_CHARACTERS)) from error
    except KeyboardInterrupt:
        warn("Stopped.")
        raise click.exceptions.Exit(INTERRUPTED) from None


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Load modules without looking for garbage, of which they make none: a seventh of the time."""
    gc.disable()
    try:
        yield
    finally:
        # What is loaded stays: no later collection need look at it.
        gc.freeze()
        gc.enable()


def _open_what_is_closed() -> None:
    """Read and write nothing where the shell closed a stream, instead of failing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It stays open as long as Python runs.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _print_all_characters() -> None:
    """Print a question mark for what the output's encoding does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _reason(error: OSError) -> str:
    # What reads a file tells its failure by name; without one it is the output.
    place = "The output cannot be written" if error.filename is None else str(error.filename)
    return f"{place}: {error.strerror or type(error).__name__}."


def _discard_the_rest() -> None:
    """Let what is still buffered go nowhere: Python would fail over it when it ends."""
    with Path(os.devnull).open("wb") as nowhere:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                os.dup2(nowhere.fileno(), stream.fileno())
