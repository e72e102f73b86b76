"""How long the texts may be that stand in rows, so that lists of rows stay light.

What is longer is cut, and the whole is kept elsewhere; see `Preparation`.
"""

import hashlib

MAX_TITLE_CHARACTERS = 500
"""Titles, names of files and branches."""

MAX_NAME_CHARACTERS = 200
"""Names of tools, models, agents and media types."""

MAX_PATH_CHARACTERS = 4_096

MAX_LOCATIONS = 1_000
MAX_LOCATION_CHARACTERS = 65_536
"""What one call's locations are at most, and their paths together."""

MAX_ID_CHARACTERS = 200
"""Ids that agents give. PostgreSQL indexes no text over 2,704 bytes."""

_ELLIPSIS = "…"


def shortened(value: str, limit: int) -> str:
    """Return a text of at most `limit` characters, with an ellipsis if it was longer."""
    return value if len(value) <= limit else value[: limit - 1] + _ELLIPSIS


def identifier(value: str) -> str:
    """Return an id of at most `MAX_ID_CHARACTERS`; two that differ stay different.

    A longer one ends in its SHA-256.
    """
    if len(value) <= MAX_ID_CHARACTERS:
        return value
    digest = hashlib.sha256(value.encode()).hexdigest()
    return shortened(value, MAX_ID_CHARACTERS - len(digest)) + digest
