"""Which process owns a SQLite file: a lock beside it, and where its owner can be reached.

The operating system lets go of the lock with the process that held it, however it ended, so the
lock alone says whether there is an owner; the address beside it may be left over. Both files are
readable by the database's user alone. A server is the owner; reading needs no ownership.

The file with the address is written over and never removed: that takes no room, so that a server
can be started, and found, on a disk that is full.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock
import orjson

from toolfold.errors import DatabaseError

_OWN_SECONDS = 1.0
_PROBE_SECONDS = 0.05
"""Whoever looks for an owner holds the lock for an instant: if it is held longer, there is one."""

_POLL_SECONDS = 0.005

_ADDRESS_BYTES = 128
"""All that is ever written to an address's file, in one piece; the rest of it is blank."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The server that owns a file: the address that it listens at, and its process."""

    host: str
    port: int
    pid: int

    @property
    def url(self) -> str:
        """The base of its URLs, without a slash at the end."""
        return f"http://{self.host}:{self.port}"


class Ownership:
    """A file's lock, held; made by `owning`."""

    def __init__(self, path: Path) -> None:
        self._address = _address(path)

    def announce(self, host: str, port: int) -> None:
        """Tell the other processes of this user where the owner listens.

        Raises:
            DatabaseError: if it cannot be written.
        """
        try:
            self._write(orjson.dumps(asdict(Owner(host, port, os.getpid()))))
        except OSError as error:
            raise DatabaseError(
                f"Cannot write where the server is to {self._address}: {error.strerror}."
            ) from error

    def withdraw(self) -> None:
        """Take back what was announced."""
        if self._address.exists():
            self._write(b"")

    def _write(self, address: bytes) -> None:
        file = os.open(self._address, os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            os.write(file, address.ljust(_ADDRESS_BYTES))
        finally:
            os.close(file)


@contextlib.contextmanager
def owning(path: Path) -> Iterator[Ownership]:
    """Own the database at `path`, which need not be there yet, for as long as the block runs.

    Raises:
        DatabaseError: if another process owns it, or its folder cannot be written to.
    """
    lock = _lock(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire(timeout=_OWN_SECONDS, poll_interval=_POLL_SECONDS)
        ownership = Ownership(path)
        ownership.withdraw()  # What an owner that was killed left.
    except filelock.Timeout as error:
        raise DatabaseError(_owned(path)) from error
    except OSError as error:
        lock.release()
        raise DatabaseError(f"Cannot lock the database {path}: {error.strerror}.") from error
    try:
        yield ownership
    finally:
        with contextlib.suppress(OSError):
            ownership.withdraw()
        lock.release()


def owner_of(path: Path) -> Owner | None:
    """Return the server that owns the database at `path`; None if no process does.

    Raises:
        DatabaseError: if there is an owner and it cannot be told where it listens.
    """
    if not _lock_path(path).exists():
        return None
    lock = _lock(path)
    try:
        lock.acquire(timeout=_PROBE_SECONDS, poll_interval=_POLL_SECONDS)
    except filelock.Timeout:
        return _announced(path)
    except OSError:
        return None  # Of a folder that cannot be written to no one here is the owner.
    lock.release()
    return None


def _announced(path: Path) -> Owner:
    try:
        return Owner(**orjson.loads(_address(path).read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise DatabaseError(
            f"A server is starting or stopping on {path}: try again in a moment."
        ) from error


def _owned(path: Path) -> str:
    try:
        owner = _announced(path)
    except DatabaseError:
        return f"Another server owns {path}: stop it first."
    return f"A server owns {path} already: process {owner.pid}, at {owner.url}."


def _lock(path: Path) -> filelock.BaseFileLock:
    return filelock.FileLock(_lock_path(path), mode=0o600, thread_local=False)


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _address(path: Path) -> Path:
    return path.with_name(f"{path.name}.server")
