"""Which database a command works on, as it may be shown: a path, or a URL without its password."""

import contextlib
import os
from collections.abc import Iterator

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from toolfold.errors import DatabaseError
from toolfold.settings import Settings
from toolfold.store import sqlite

_NOT_WRITABLE = ("readonly database", "unable to open database file")
"""What SQLite says where it cannot make its write-ahead log."""

_SECRETS = ("password", "passfile", "sslpassword")


def url_without_password(text: str) -> str | None:
    """Return a database's URL without what is secret in it; None if it is no clear URL."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        return None
    if "@" in (url.host or ""):
        return None  # An @ of the password's that is not written %40: the host has its rest.
    shown = url._replace(password=None).difference_update_query(_SECRETS)
    return shown.render_as_string(hide_password=False)


@contextlib.contextmanager
def told_with_its_place(settings: Settings) -> Iterator[None]:
    """Name the database in what is told of it.

    Raises:
        DatabaseError: whatever the block raised, after the path or the URL.
    """
    try:
        yield
    except DatabaseError as error:
        place = _place(settings)
        if place is None or place in error.message:
            raise
        raise DatabaseError(f"{place}: {error.message}{_hint(settings, error)}") from error


def _place(settings: Settings) -> str | None:
    if settings.database_url:
        return url_without_password(settings.database_url)
    return str(settings.data_dir / sqlite.FILE_NAME)


def _hint(settings: Settings, error: DatabaseError) -> str:
    """Say what keeps SQLite from a file that is there: it writes beside it even to read."""
    is_about_folder = any(words in error.message for words in _NOT_WRITABLE)
    if not is_about_folder or os.access(settings.data_dir, os.W_OK):
        return ""
    return f". SQLite writes beside the file even to read: make {settings.data_dir} writable."
