"""Which session is meant: ids that are the same at every import."""

import uuid
from dataclasses import dataclass

_NAMESPACE = uuid.UUID("6f4b7f0e-7d0c-5f39-9d4e-0f1b2f6a7c11")


@dataclass(frozen=True, slots=True)
class Identity:
    """A session's id, and the format and the agent's own id; both None if a client made it."""

    id: str
    source_format: str | None
    source_session: str | None


def of_source(source_format: str, source_session: str) -> Identity:
    """Return the identity of the session that a format's agent knows by its own id."""
    name = f"{source_format}\n{source_session}"
    return Identity(str(uuid.uuid5(_NAMESPACE, name)), source_format, source_session)


def of_client(client_session_id: str) -> str:
    """Return the id of the session that a client knows by this name, the same each time."""
    # No format has an empty name.
    return str(uuid.uuid5(_NAMESPACE, f"\n{client_session_id}"))
