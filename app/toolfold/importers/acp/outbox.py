"""What is ready to be told of a session and its sub-agents, in order.

While an agent tells its history again, values are held until the turn is over, and a tool call is
one message in its last state: what a store has already is then skipped whole, and is not patched
with what may be a poorer account of it.
"""

from toolfold.importers.acp.tool_calls import OpenCall
from toolfold.transcript import Value

Told = tuple[str, Value]
"""A session's id, and a value that belongs to it."""


class Outbox:
    """Collects values; `owner` is the session whose turns decide when held ones are released."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._ready: list[Told] = []
        self._held: list[tuple[str, Value | OpenCall]] | None = None

    @property
    def is_holding(self) -> bool:
        """Whether values are held."""
        return self._held is not None

    def hold(self) -> None:
        """Hold what comes from now on."""
        self._held = self._held or []

    def release(self, session: str) -> None:
        """Let go of what is held, if `session` is the owner; what comes next is held again."""
        if self._held is None or session != self._owner:
            return
        for told_of, item in self._held:
            self._ready.append((told_of, item.message() if isinstance(item, OpenCall) else item))
        self._held = []

    def stop_holding(self) -> None:
        """Release everything, and hold nothing from now on."""
        self.release(self._owner)
        self._held = None

    def put(self, session: str, value: Value) -> None:
        """Add a value."""
        if self._held is None:
            self._ready.append((session, value))
        else:
            self._held.append((session, value))

    def place(self, session: str, call: OpenCall) -> None:
        """Add the message that a call is."""
        if self._held is not None:
            self._held.append((session, call))
            return
        self._ready.append((session, call.message()))
        if call.has_ended:
            self.tell(session, call)

    def tell(self, session: str, call: OpenCall) -> None:
        """Add what has changed in a call since; one that is held will say it itself."""
        if self._held is None and (update := call.update()) is not None:
            self._ready.append((session, update))

    def drain(self) -> list[Told]:
        """Return what is ready, and forget it."""
        ready, self._ready = self._ready, []
        return ready
