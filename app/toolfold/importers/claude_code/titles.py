"""What a session is called: by its user, else by the program, else by a summary of it.

A `summary` names no session but the last message of one, often of another file: it counts once
that message is met in this one.
"""

from toolfold.importers.claude_code.records import TITLES, Fields, text

_RANKS = tuple(TITLES)


class Titles:
    """The titles of a file's sessions as they are read."""

    def __init__(self) -> None:
        self._titles: dict[str, tuple[int, str]] = {}
        self._awaited: dict[str, str] = {}

    def of(self, session: str) -> str | None:
        """Return the title that the agent's session id has so far."""
        known = self._titles.get(session)
        return known[1] if known else None

    def read(self, record: Fields) -> str | None:
        """Take a record that names a session by its id; return the session if that named it."""
        kind = record["type"]
        title, session = text(record, TITLES[kind]), text(record, "sessionId")
        if title is None or session is None:
            return None
        return self._name(session, kind, title)

    def await_leaf(self, summary: Fields) -> None:
        """Take a summary whose message has not been met."""
        leaf, title = text(summary, "leafUuid"), text(summary, "summary")
        if leaf is not None and title is not None:
            self._awaited[leaf] = title

    def met(self, uuid: str, session: str) -> str | None:
        """Take note of a session's message; return the session if a summary waited for it."""
        title = self._awaited.pop(uuid, None) if self._awaited else None
        return None if title is None else self._name(session, "summary", title)

    def summarised(self, session: str, summary: Fields) -> str | None:
        """Take a summary of a session that was met; return the session if that named it."""
        title = text(summary, "summary")
        return None if title is None else self._name(session, "summary", title)

    def _name(self, session: str, kind: str, title: str) -> str | None:
        rank = _RANKS.index(kind)
        if self._titles.get(session, (rank, ""))[0] > rank:
            return None
        self._titles[session] = (rank, title)
        return session
