"""The tool calls of one turn, and the terminals that they show."""

from collections import deque

from toolfold.importers.acp import shape, tool_calls
from toolfold.importers.acp.outbox import Outbox
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.terminals import Terminal
from toolfold.importers.acp.tool_calls import OpenCall, read_patch
from toolfold.importers.acp.turn import Moment
from toolfold.transcript import Json, Message

_Record = dict[str, Json]

MAX_ENDED = 1_000
"""How many calls of a turn are remembered after they have ended, for updates that come late."""


class TurnCalls:
    """Takes records of tool calls and tells of the calls: at first sight, and when they end."""

    def __init__(self, session: str, outbox: Outbox) -> None:
        """Begin with none; what is told goes to the outbox, as the session's."""
        self._session = session
        self._outbox = outbox
        self._calls: dict[str, OpenCall] = {}
        self._terminals: dict[str, Terminal] = {}
        # Of calls that have ended, with the terminals that they showed.
        self._ended: deque[tuple[str, frozenset[str]]] = deque()
        self._ended_terminals: set[str] = set()

    def get(self, call_id: str) -> OpenCall | None:
        """Return a call of this turn."""
        return self._calls.get(call_id)

    def take(self, record: _Record, moment: Moment, *, is_new: bool) -> OpenCall:
        """Take a record of a call: its first one if `is_new`, or a patch."""
        call = self._open(shape.required_text(record, "toolCallId"), moment, is_new=is_new)
        meta = shape.nested(record, "_meta")
        self._take_terminal(call, meta)
        call.answer(shape.nested(meta, "claudeCode").get("toolResponse"))
        call.apply(read_patch(record), moment)
        self._report(call)
        return call

    def append(self, record: _Record, moment: Moment) -> OpenCall:
        """Append one block to a call's content (version 2)."""
        call = self._open(shape.required_text(record, "toolCallId"), moment, is_new=True)
        if call.has_ended:
            raise NotUnderstoodError("content for a tool call that has ended")
        call.append(record.get("content"), moment)
        self._report(call)
        return call

    def link(self, call_id: str, child_session: str) -> None:
        """Tell which session the sub-agent has that a call started, if it is of this turn."""
        call = self._calls.get(call_id)
        if call is not None:
            call.link(child_session)
            self._report(call)

    def terminal(self, terminal_id: str) -> Terminal:
        """Return a terminal, to be told what it did.

        Raises:
            NotUnderstoodError: if the tool call that shows it has ended: then nothing is changed.
        """
        if terminal_id in self._ended_terminals:
            raise NotUnderstoodError("news of a terminal whose tool call has ended")
        return self._terminals.setdefault(terminal_id, Terminal(terminal_id))

    def show(self) -> None:
        """Tell each call as it stands; it may still change."""
        for call in self._calls.values():
            self._outbox.tell(self._session, call)

    def tell(self) -> list[Message]:
        """Tell each call as it stands; return messages for terminals that no call shows."""
        self.show()
        shown = {terminal_id for call in self._calls.values() for terminal_id in call.attached}
        return [
            tool_calls.of_terminal(terminal)
            for terminal in self._terminals.values()
            if terminal.id not in shown and terminal.version
        ]

    def abandon(self) -> list[Message]:
        """Do the same at the turn's end: a call without a result has failed. Then forget all."""
        for call in self._calls.values():
            call.abandon()
        loose = self.tell()
        self._calls.clear()
        self._terminals.clear()
        self._ended.clear()
        self._ended_terminals.clear()
        return loose

    def _open(self, call_id: str, moment: Moment, *, is_new: bool) -> OpenCall:
        call = self._calls.get(call_id)
        if call is None:
            call = self._calls[call_id] = OpenCall(call_id, moment, is_new)
        return call

    def _take_terminal(self, call: OpenCall, meta: _Record) -> None:
        """Take what a tool call's `_meta` says of a terminal (Codex, and adapters of Zed's)."""
        for key in ("terminal_output_delta", "terminal_output", "terminal_exit"):
            news = shape.nested(meta, key)
            if not news:
                continue
            terminal = self.terminal(shape.text(news, "terminal_id") or call.id)
            call.attach(terminal)
            if key == "terminal_exit":
                terminal.end(news)
            else:
                terminal.append((shape.text(news, "data") or "").encode())

    def _report(self, call: OpenCall) -> None:
        """Tell a call that is new, or that has ended."""
        for terminal_id in call.terminal_ids():
            if terminal_id not in self._ended_terminals:
                call.attach(self.terminal(terminal_id))
        shown = frozenset(call.attached)
        if not call.is_placed:
            call.is_placed = True
            self._outbox.place(self._session, call)
        elif call.has_ended:
            self._outbox.tell(self._session, call)
        if call.has_ended:
            self._end(call, shown)

    def _end(self, call: OpenCall, shown: frozenset[str]) -> None:
        """Let go of an ended call's terminals and, in time, of the call."""
        self._ended_terminals |= shown
        for terminal_id in shown:
            self._terminals.pop(terminal_id, None)
        self._ended.append((call.id, shown))
        # A call that is held is still to be told.
        if len(self._ended) > MAX_ENDED and not self._outbox.is_holding:
            oldest, its_terminals = self._ended.popleft()
            self._calls.pop(oldest, None)
            self._ended_terminals -= its_terminals
