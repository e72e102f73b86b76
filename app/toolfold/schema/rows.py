"""The plain rows behind messages and their tool calls.

A row is a named tuple of exactly the columns that its page selected, then how it may be read.
A message and its tool call are two views of one row.
"""

from collections import namedtuple
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, ClassVar

from toolfold.errors import NotFoundError
from toolfold.schema.connection import Scope
from toolfold.schema.global_id import MessageKey, SessionKey
from toolfold.schema.guard import Access
from toolfold.schema.heavy import Part
from toolfold.store import project as project_store
from toolfold.store import session as session_store

_DELETED = "This was deleted while it was read."

KEY_COLUMNS = ("project_id", "session_id", "sequence")


class MessageRow:
    """What every message row has, and the columns that it may have (see `store.tables`)."""

    __slots__ = ()
    typename: ClassVar[str] = "Message"

    project_id: str
    session_id: str
    sequence: int
    revision: int
    attachment_count: int
    content: str | None
    content_size: int
    content_hash: bytes | None
    content_preview: str
    tool_call_id: str | None
    tool_content_preview: str | None
    access: Access
    scope: Scope

    @property
    def key(self) -> MessageKey:
        """The row's primary key."""
        return self.project_id, self.session_id, self.sequence

    def part(self, name: str) -> Part | None:
        """Return the stored bytes of the part whose columns begin with `name`; None if none."""
        digest: bytes | None = getattr(self, f"{name}_hash")
        if digest is None:
            return None
        size: int = getattr(self, f"{name}_size")
        return Part(self.project_id, digest, size, self.access)


class ToolMetadataRow(MessageRow):
    """The same row where it is reached as a tool call's own node."""

    __slots__ = ()
    typename: ClassVar[str] = "ToolMetadata"


def message_rows(
    columns: tuple[str, ...],
    found: Iterable[Iterable[Any]],
    access: Access,
    scope: Scope,
    base: Any = MessageRow,
    *,
    known: tuple[Any, ...] = (),
) -> list[Any]:
    """Return the store's rows of `columns` as rows that GraphQL shows under `access`.

    `known` are the values of the first columns, where all rows have the same: those were not read.
    """
    # Not `_make`, which is Python's: this is done for every row of every page.
    new, kind = tuple.__new__, _row_type(columns, base)
    return [new(kind, (*known, *row, access, scope)) for row in found]


@lru_cache(maxsize=512)
def _row_type(columns: tuple[str, ...], base: Any) -> Any:
    fields = _fields((*columns, "access", "scope"))
    return type(base.__name__, (base, fields), {"__slots__": ()})


def _fields(columns: tuple[str, ...]) -> Any:
    """Return a named tuple class whose fields are known only now."""
    return namedtuple("_Fields", columns)  # noqa: PYI024 - mypy and typing.NamedTuple want literal names.


_SessionFields: Any = _fields(session_store.COLUMNS)
_ProjectFields: Any = _fields(project_store.COLUMNS)


class SessionRow(_SessionFields):  # type: ignore[misc]  # made from the store's columns
    """A session's row, all its columns."""

    __slots__ = ()
    typename: ClassVar[str] = "Session"

    project_id: str
    id: str
    parent_id: str | None

    @property
    def key(self) -> SessionKey:
        """The row's primary key."""
        return self.project_id, self.id


class ProjectRow(_ProjectFields):  # type: ignore[misc]  # made from the store's columns
    """A project's row."""

    __slots__ = ()
    typename: ClassVar[str] = "Project"

    id: str
    name: str

    @property
    def key(self) -> tuple[str]:
        """The row's primary key."""
        return (self.id,)


def session_row(found: Any) -> SessionRow | None:
    """Return the store's row of a session as one that GraphQL shows; None for None."""
    return None if found is None else SessionRow._make(found)


def session_of_message(found: Any) -> SessionRow:
    """Return the session of a message that was read before.

    Raises:
        NotFoundError: if both were deleted since.
    """
    if found is None:
        raise NotFoundError(_DELETED)
    row: SessionRow = SessionRow._make(found)
    return row


def project_of_session(found: Any) -> ProjectRow:
    """Return the project of a session that was read before.

    Raises:
        NotFoundError: if both were deleted since.
    """
    if found is None:
        raise NotFoundError(_DELETED)
    row: ProjectRow = ProjectRow._make(found)
    return row


def project_row(found: Any) -> ProjectRow | None:
    """Return the store's row of a project as one that GraphQL shows; None for None."""
    return None if found is None else ProjectRow._make(found)
