"""What a check finds."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it must be: the check's name, the place, and what is wrong there."""

    name: str
    place: str
    detail: str


Check = Callable[[AsyncConnection, str], AsyncIterator[Finding]]
"""Looks through one project, given by its id, and yields what it finds, in a stable order."""


def session_place(session_id: str) -> str:
    """Return how a finding names a session."""
    return f"session {session_id}"


def message_place(session_id: str, sequence: int) -> str:
    """Return how a finding names a message."""
    return f"session {session_id}, message {sequence}"


def content_place(digest: bytes) -> str:
    """Return how a finding names a content."""
    return f"content sha256:{digest.hex()}"
