"""Options that several commands share, and the settings that come of them."""

import functools
import os
import shlex
from collections.abc import Callable
from typing import Any

import click

from toolfold.cli.database_place import url_without_password
from toolfold.errors import BadUserInputError
from toolfold.settings import Settings

Command = Callable[..., None]
_FILE_NAMES = frozenset({"paths", "output", "trusted_documents"})
"""The arguments of commands that are names of files."""


def with_settings(command: Command) -> Command:
    """Give a command the argument `settings`: the environment's, changed by its options."""

    @click.option(
        "--data-dir",
        metavar="FOLDER",
        help="Where the database file is. Also TOOLFOLD_DATA_DIR; else your user data folder.",
    )
    @click.option(
        "--database-url",
        metavar="URL",
        help="A PostgreSQL database instead of the file. Also TOOLFOLD_DATABASE_URL.",
    )
    @functools.wraps(command)
    def wrapped(data_dir: str | None, database_url: str | None, **arguments: Any) -> None:
        for name, value in [("database_url", database_url), *arguments.items()]:
            _require_text(name, value)
        command(settings=_settings(data_dir, database_url), **arguments)

    return wrapped


def _require_text(name: str, value: object) -> None:
    """Refuse an argument that is not UTF-8, unless it names files, which can have any bytes.

    Raises:
        BadUserInputError: showing its bytes.
    """
    if isinstance(value, str) and name not in _FILE_NAMES:
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raw = os.fsencode(value)
            message = f"An argument is not UTF-8 text: {str(raw)[2:-1]}."
            raise BadUserInputError(message, argument=name) from error


def _settings(data_dir: str | None, database_url: str | None) -> Settings:
    """Return the environment's settings; an option counts more, and a folder more than a URL.

    Raises:
        BadUserInputError: if an option is blank, which would mean the folder that one is in.
        SettingsError: for a variable.
    """
    settings = Settings.from_environment()
    for option, value in (("--data-dir", data_dir), ("--database-url", database_url)):
        if value is not None and not value.strip():
            raise BadUserInputError(f"{option} is empty.", argument=option.removeprefix("--"))
    return settings.choosing(data_dir, database_url)


def command_with(settings: Settings, command: str) -> str:
    """Return `toolfold COMMAND` with the option that makes it use the same database.

    A URL of the environment's is not repeated, and one that is has no password.
    """
    words = f"toolfold {command}"
    environment = Settings.from_environment()
    if settings.database_url:
        if settings.database_url == environment.database_url:
            return words
        url = url_without_password(settings.database_url) or "URL"
        return f"{words} --database-url {shlex.quote(url)}"
    is_default = settings.data_dir == environment.data_dir == Settings().data_dir
    if environment.database_url or not is_default:
        return f"{words} --data-dir {shlex.quote(str(settings.data_dir))}"
    return words
