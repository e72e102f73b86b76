"""What the commands print: plain lines, safe to show whatever a transcript holds."""

import re
import sys
from typing import TYPE_CHECKING

import click
from rich import filesize

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def console() -> "Console | None":
    """Return the console to draw on if standard output is a terminal, else None."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console  # noqa: PLC0415 (most commands print lines only)

    return Console(highlight=False, markup=False, emoji=False)


def say(line: str) -> None:
    """Print one line of the command's result."""
    click.echo(line)


def warn(line: str) -> None:
    """Print one line on standard error, for what went wrong without ending the command."""
    click.echo(line, err=True)


def one_line(text: str | None, width: int = 80) -> str:
    """Return recorded text as one line of at most `width` characters, safe on a terminal.

    Control characters, and with them escape sequences, and changes of direction become a space.
    """
    line = _CONTROL.sub(" ", text or "").strip()
    return line if len(line) <= width else f"{line[: width - 1]}…"


def size(byte_count: int) -> str:
    """Return a number of bytes for people: `512 bytes`, `41.3 kB`, `1.9 MB`."""
    return filesize.decimal(byte_count)


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: `1 file`, `1,204 files`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
