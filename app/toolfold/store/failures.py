"""What the databases raise when they fail, told as a `DatabaseError` of one clear line.

A statement that is wrong is not a failure of the database but a bug, and stays what it is.
"""

import contextlib
from collections.abc import Iterator

import asyncpg  # type: ignore[import-untyped]  # It has no type stubs.
import sqlalchemy.exc
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from toolfold.errors import DatabaseError, DiskFullError

_FAILURE_CLASSES = frozenset({"08", "40", "53", "57", "58", "XX"})
"""PostgreSQL's classes of SQLSTATE for what befell the server or the transaction."""

_POSTGRESQL_FULL = "53100"
_SQLITE_FULL = frozenset({13, 4874})
"""SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: no room for the index that is shared beside the log."""

_NO_ROOM = (
    "The database's disk is full: nothing of this was written, and what was written before is"
    " safe. Once there is room, the same will be accepted."
)


@contextlib.contextmanager
def told_while_connecting() -> Iterator[None]:
    """Tell whatever keeps the database from being used.

    Raises:
        DiskFullError: if there is no room to open it.
        DatabaseError: for any other error of the database, its driver or the network.
    """
    try:
        yield
    except DBAPIError as error:
        _refuse_if_full(error)
        raise DatabaseError(f"The database cannot be used: {_first_line(error)}") from error
    except (SQLAlchemyError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise DatabaseError(f"The database cannot be used: {_first_line(error)}") from error


@contextlib.contextmanager
def told_while_running() -> Iterator[None]:
    """Tell a failure of the database during a transaction.

    Raises:
        DiskFullError: if there is no room for what it writes.
        DatabaseError: if it is locked, damaged, out of reach, or in conflict.
    """
    try:
        yield
    except DBAPIError as error:
        _refuse_if_full(error)
        if not _is_failure(error):
            raise
        raise DatabaseError(f"The database failed: {_first_line(error)}") from error


def sqlstate(error: DBAPIError) -> str | None:
    """Return PostgreSQL's code of the error; None for one of SQLite, or of the driver."""
    code: str | None = getattr(error.orig, "sqlstate", None)
    return code


def _refuse_if_full(error: DBAPIError) -> None:
    """Tell an error whose reason is a full disk.

    Raises:
        DiskFullError: if it is.
    """
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code in _SQLITE_FULL or sqlstate(error) == _POSTGRESQL_FULL:
        raise DiskFullError(_NO_ROOM) from error


def _is_failure(error: DBAPIError) -> bool:
    code = sqlstate(error)
    if code is not None:
        return code[:2] in _FAILURE_CLASSES
    # A damaged file is SQLite's plain DatabaseError, of which wrong statements are subclasses.
    is_damage = type(error) is sqlalchemy.exc.DatabaseError
    return is_damage or isinstance(error, OperationalError | InterfaceError)


def _first_line(error: BaseException) -> str:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
