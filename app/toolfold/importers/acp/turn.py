"""Turns: what a user said and what the agent did about it; they name the messages in them.

A message's client id must be the same at every import, and also when an agent tells its history
again as a session is loaded. An id of the agent's own serves where there is one; else the place:
the turn's number and its user's text, the role, and the number of the message among those.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from toolfold.transcript import MessageRole


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was logged, if known, and whether its bytes had to be repaired."""

    time: datetime | None = None
    repaired: bool = False


@dataclass(slots=True)
class Turn:
    """One turn of a session; number 0 is what comes before the first user's message.

    `scope` sets apart the places in a log that does not begin where its session begins.
    """

    number: int = 0
    scope: str = ""
    digest: str = ""
    last_plan: str = ""
    _counts: Counter[str] = field(default_factory=Counter)
    _counts_before: Counter[str] = field(default_factory=Counter)

    def next(self, digest: str) -> "Turn":
        """Return the turn that a user's message with this digest begins."""
        # A message that the user interrupts goes on in the next turn.
        return Turn(self.number + 1, self.scope, digest, _counts_before=self._counts)

    def copied(self) -> "Turn":
        """Return a turn that gives the same names from here on, and leaves this one as it is."""
        return replace(self, _counts=self._counts.copy(), _counts_before=self._counts_before.copy())

    def name(self, role: MessageRole | str, message_id: str | None) -> str:
        """Return the client id of the turn's next message of this role, or of this id."""
        key = self._key(role, message_id)
        self._counts[key] += 1
        count = self._counts[key] + self._counts_before[key]
        if message_id is None and role != MessageRole.USER:
            return f"{key}.{count}"
        # A message of one id goes on in a second part after a tool call.
        return key if count == 1 else f"{key}.{count}"

    def name_again(self, role: MessageRole, message_id: str) -> str | None:
        """Return the client id of a message of this id named before in this turn, if any was."""
        key = self._key(role, message_id)
        return key if self._counts[key] else None

    def _key(self, role: MessageRole | str, message_id: str | None) -> str:
        if message_id is not None:
            return f"{role}:{message_id}"
        place = f"{self.scope}{self.number}"
        return f"{role}:{place}-{self.digest}" if self.digest else f"{role}:{place}"
