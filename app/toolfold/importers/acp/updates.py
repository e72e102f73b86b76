"""One session's updates as transcript values, whatever they came by.

A log is one way; whoever is sent `session/update` notifications is another. Nothing here knows a
file, a connection or a request's id. Records are protocol version 1's, and version 2's as far as
its schema is public; whatever a newer one adds raises `NotUnderstoodError`, to be kept raw.
"""

from collections.abc import Callable
from datetime import datetime

from toolfold.importers.acp import shape
from toolfold.importers.acp.conversation import Conversation
from toolfold.importers.acp.outbox import Outbox, Told
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.terminals import Terminal
from toolfold.importers.acp.turn import Moment
from toolfold.transcript import Json, MessageRole, Session, Usage

_Record = dict[str, Json]
_Handler = Callable[[Conversation, _Record, Moment], object]

_SILENT = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "usage_update",
    }
)
"""Understood, and nothing that a transcript shows."""


class SessionUpdates:
    """The state of one session while its updates come in.

    Every method returns what it made known: pairs of a session's id, this one's or that of a
    sub-agent of it, and a value. Those that take a record raise `NotUnderstoodError` for one that
    is not of ACP's shape, and are then as if it had not come.
    """

    def __init__(self, session: str, *, scope: str = "") -> None:
        """Begin with the agent's own id of the session.

        `scope` sets the places of messages without an id apart from those of another account of
        this session: give one where updates do not begin with the session.
        """
        self._outbox = Outbox(session)
        self._root = Conversation(session, self._outbox, scope=scope)
        # Sub-agents by the call that started each, and which of them made a call that has not
        # ended, or not before this turn.
        self._children: dict[str, Conversation] = {}
        self._callers: dict[str, Conversation] = {}
        self._ended: set[str] = set()

    def prompt(self, blocks: Json, moment: Moment) -> list[Told]:
        """Take the content blocks of a `session/prompt` request."""
        self._root.prompt(blocks, moment)
        return self._outbox.drain()

    def update(self, update: Json, moment: Moment) -> list[Told]:
        """Take the `update` of one `session/update` notification."""
        record = shape.fields(update, "the update")
        kind = shape.required_text(record, "sessionUpdate")
        if kind == "session_info_update":
            self._take_info(record)
        elif kind not in _SILENT:
            handle = _HANDLERS.get(kind)
            if handle is None:
                raise NotUnderstoodError(f"unknown update {kind}")
            conversation = self._conversation(record)
            handle(conversation, record, moment)
            self._follow(conversation, record)
        return self._outbox.drain()

    def permission(self, request: Json, moment: Moment) -> list[Told]:
        """Take the parameters of a `session/request_permission` request: its call is a patch."""
        params = shape.fields(request, "the request")
        record = shape.nested(params, "toolCall") or shape.nested(params, "subject", "toolCall")
        if record:
            conversation = self._conversation(record)
            conversation.tool_call(record, moment, is_new=True)
            self._follow(conversation, record)
        return self._outbox.drain()

    def fail(self, error: Json, moment: Moment) -> list[Told]:
        """Take the error that a prompt was answered with, as a system message; the turn is over."""
        message = shape.text(shape.nested({"error": error}, "error"), "message")
        if message is not None:
            self._root.note(message, moment, role=MessageRole.SYSTEM)
        return self.end_turn()

    def end_turn(self, usage: Usage | None = None) -> list[Told]:
        """Take the end of a turn: a prompt was answered, after this many tokens if that is known.

        A call without a result is FAILED from here on, with nothing recorded.
        """
        for child in self._children.values():
            child.end_turn()
        for call_id in self._ended:
            self._callers.pop(call_id, None)
        self._ended.clear()
        self._root.end_turn()
        if usage is not None:
            self._root.use(usage)
        self._outbox.release(self._root.session)
        return self._outbox.drain()

    @property
    def is_replaying(self) -> bool:
        """Whether a history is expected, or coming in."""
        return self._outbox.is_holding

    def begin_replay(self) -> None:
        """Expect the session's history, which whoever reads the values may have already."""
        self._outbox.hold()

    def end_replay(self) -> list[Told]:
        """Take the end of the history: what was open in it is over."""
        told = self.end_turn()
        self._outbox.stop_holding()
        return told + self._outbox.drain()

    def show(self) -> list[Told]:
        """Tell what is open as it stands, and leave it open; told again, a text replaces itself."""
        for conversation in (*self._children.values(), self._root):
            conversation.show()
        return self._outbox.drain()

    def finish(self) -> list[Told]:
        """Tell everything as it stands, calls that are still open included."""
        for conversation in (*self._children.values(), self._root):
            conversation.finish()
        self._outbox.stop_holding()
        return self._outbox.drain()

    def terminal(self, terminal_id: str) -> Terminal:
        """Return a terminal that the client runs for the agent, to be told what it did."""
        return self._root.calls.terminal(terminal_id)

    def _conversation(self, record: _Record) -> Conversation:
        """Return whose record this is: the session's, or that of a sub-agent."""
        starter = shape.text(shape.nested(record, "_meta", "claudeCode"), "parentToolUseId")
        if starter is not None:
            return self._children.get(starter) or self._new_child(starter)
        return self._callers.get(shape.text(record, "toolCallId") or "", self._root)

    def _new_child(self, starter: str) -> Conversation:
        """Begin the session of the sub-agent that the call `starter` started."""
        parent = self._callers.get(starter, self._root)
        child = Conversation(f"{self._root.session}/{starter}", self._outbox)
        self._children[starter] = child
        call = parent.calls.get(starter)
        self._outbox.put(
            child.session,
            Session(
                title=call.title if call else None,
                parent=parent.session,
                parent_tool_call_id=starter,
            ),
        )
        parent.calls.link(starter, child.session)
        return child

    def _follow(self, conversation: Conversation, record: _Record) -> None:
        """Note whose call a record was of; a sub-agent is done when the call that began it is."""
        call_id = shape.text(record, "toolCallId")
        if call_id is None:
            return
        if conversation is not self._root:
            self._callers[call_id] = conversation
        call = conversation.calls.get(call_id)
        if call is not None and call.has_ended:
            self._ended.add(call_id)
            if call_id in self._children:
                self._children[call_id].end_turn()

    def _take_info(self, record: _Record) -> None:
        title = shape.text(record, "title")
        try:
            updated_at = datetime.fromisoformat(shape.text(record, "updatedAt") or "")
        except ValueError:
            updated_at = None
        if updated_at is not None and updated_at.tzinfo is None:
            updated_at = None
        if title is not None or updated_at is not None:
            self._outbox.put(self._root.session, Session(title=title, updated_at=updated_at))


def _said(role: MessageRole) -> _Handler:
    return lambda conversation, record, moment: conversation.chunk(role, record, moment)


def _restated(role: MessageRole) -> _Handler:
    return lambda conversation, record, moment: conversation.whole(role, record, moment)


def _new_call(conversation: Conversation, record: _Record, moment: Moment) -> None:
    conversation.tool_call(record, moment, is_new=True)


def _patched_call(conversation: Conversation, record: _Record, moment: Moment) -> None:
    conversation.tool_call(record, moment, is_new=False)


def _notice(conversation: Conversation, record: _Record, moment: Moment) -> None:
    lines = (shape.required_text(record, "title"), shape.text(record, "description"))
    conversation.note("\n".join(filter(None, lines)), moment, role=MessageRole.SYSTEM)


def _state(conversation: Conversation, record: _Record, _moment: Moment) -> None:
    """Take version 2's `state_update`: idle ends the agent's work, if not what runs beside it."""
    if record.get("state") == "idle":
        conversation.rest()


def _terminal_update(conversation: Conversation, record: _Record, _moment: Moment) -> None:
    output = shape.nested(record, "output")
    data = shape.base64_bytes(output.get("data")) if output else None
    terminal = conversation.calls.terminal(shape.required_text(record, "terminalId"))
    if "command" in record:
        terminal.run(shape.text(record, "command"))
    if "output" in record:
        terminal.replace(data)
    if exit_status := shape.nested(record, "exitStatus"):
        terminal.end(exit_status)


def _terminal_output(conversation: Conversation, record: _Record, _moment: Moment) -> None:
    data = shape.base64_bytes(record.get("data"))
    conversation.calls.terminal(shape.required_text(record, "terminalId")).append(data)


_HANDLERS: dict[str, _Handler] = {
    "user_message_chunk": _said(MessageRole.USER),
    "agent_message_chunk": _said(MessageRole.ASSISTANT),
    "agent_thought_chunk": _said(MessageRole.THINKING),
    "user_message": _restated(MessageRole.USER),
    "agent_message": _restated(MessageRole.ASSISTANT),
    "agent_thought": _restated(MessageRole.THINKING),
    "compaction_update": Conversation.compaction,
    "compaction_summary_chunk": Conversation.compaction,
    "plan": Conversation.plan,
    "plan_update": Conversation.plan,
    "tool_call": _new_call,
    "tool_call_update": _patched_call,
    "tool_call_content_chunk": Conversation.tool_content,
    "terminal_update": _terminal_update,
    "terminal_output_chunk": _terminal_output,
    "notice": _notice,
    "state_update": _state,
}
