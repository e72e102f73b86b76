"""What a log says of its sessions themselves, told again whenever more is known."""

from dataclasses import fields, replace
from datetime import datetime

from toolfold.importers.acp.outbox import Told
from toolfold.transcript import Session


class Facts:
    """Collects the facts of each session; `agent` is that of all that are told from now on."""

    def __init__(self) -> None:
        self.agent: str | None = None
        self._known: dict[str, Session] = {}
        self._last_times: dict[str, datetime] = {}

    def learn(self, session: str, news: Session, time: datetime | None) -> list[Told]:
        """Return what is known of a session with the news, if it was not known before.

        `time` is when something of the session was logged: the first one is that of its beginning.
        """
        if time is not None:
            self._last_times[session] = time
        known = self._known.get(session)
        if known is None:
            parent = self._known.get(news.parent or "", Session())
            known = Session(agent=self.agent, cwd=parent.cwd, created_at=time)
        given = {
            field.name: value
            for field in fields(news)
            if (value := getattr(news, field.name)) is not None
        }
        known = replace(known, **given)
        if known == self._known.get(session):
            return []
        self._known[session] = known
        return [(session, known)]

    def last(self) -> list[Told]:
        """Return the sessions whose last message has a time, with that time."""
        return [
            (session, replace(self._known[session], updated_at=time))
            for session, time in self._last_times.items()
        ]
