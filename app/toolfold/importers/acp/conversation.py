"""One conversation: an agent's updates as messages, in the order in which they began.

Text is told when it is complete, a tool call at first sight and again when it ends. What is kept
is the open text, the turn's calls (without contents, once these have been told) and the turn's
terminals, so memory does not grow with the session.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from toolfold.importers.acp import prose, shape
from toolfold.importers.acp.outbox import Outbox
from toolfold.importers.acp.prose import Prose
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.tool_calls import OpenCall
from toolfold.importers.acp.turn import Moment, Turn
from toolfold.importers.acp.turn_calls import TurnCalls
from toolfold.transcript import Json, Message, MessageRole, MessageUsage, Usage

_Record = dict[str, Json]

_SYSTEM = "system"
"""The origin of what an agent program says, and not its model."""

# Gemini CLI tells a change of mode as text of the agent.
_MODE_UPDATE = re.compile(r"\[MODE_UPDATE\] \S+")


@dataclass(slots=True)
class _OpenText:
    role: MessageRole
    message_id: str | None
    opened: Moment
    client_id: str | None = None
    """Set when it replaces a message of this turn that has been told."""
    prose: Prose = field(default_factory=Prose)
    is_repaired: bool = False


class Conversation:
    """What one agent says and does in one session, or as a sub-agent of it.

    The methods put values into the outbox. A record that is not understood raises
    `NotUnderstoodError` and changes nothing.
    """

    def __init__(self, session: str, outbox: Outbox, *, scope: str = "") -> None:
        """Begin before the first turn; `scope` is that of `Turn`."""
        self.session = session
        self.calls = TurnCalls(session, outbox)
        self._outbox = outbox
        self._turn = Turn(scope=scope)
        self._texts: list[_OpenText] = []
        self._last_message: str | None = None
        # Prompts that await their response, and texts of which an update may be the echo.
        self._prompts = 0
        self._echoes: list[str] = []

    def prompt(self, blocks: Json, moment: Moment) -> None:
        """Take the content of a `session/prompt` request: a user's message."""
        said = prose.of_blocks(blocks)
        self.close_texts()
        self._begin_turn(said)
        self._prompts += 1
        self._echoes.append(said.digest)
        if not said.is_empty:
            self._say(_OpenText(MessageRole.USER, None, moment, prose=said))

    def chunk(self, role: MessageRole, update: _Record, moment: Moment) -> None:
        """Take one piece of a message (`…_chunk`): more of the open one, or a new one."""
        block = shape.fields(update.get("content"), "the content")
        message_id = shape.text(update, "messageId")
        text = shape.text(block, "text") or ""
        if message_id is None and _MODE_UPDATE.fullmatch(text):
            self.note(text, moment, role=role)
        elif block.get("text") != "":
            self._open(role, message_id, moment).prose.add(block)

    def whole(self, role: MessageRole, update: _Record, moment: Moment) -> None:
        """Take a message by id (version 2's `agent_message` and its like): a content replaces."""
        message_id = shape.required_text(update, "messageId")
        if "content" in update:
            self._open(role, message_id, moment, again=True).prose = prose.of_blocks(
                update["content"]
            )

    def compaction(self, update: _Record, moment: Moment) -> None:
        """Take the summary of a compaction, whole or a piece of it: a system message."""
        message = {"messageId": shape.required_text(update, "compactionId")}
        if "content" in update:
            self.chunk(MessageRole.SYSTEM, message | {"content": update["content"]}, moment)
        elif "summary" in update:
            self.whole(MessageRole.SYSTEM, message | {"content": update["summary"]}, moment)

    def plan(self, update: _Record, moment: Moment) -> None:
        """Take a plan: the whole list each time, so of several in a row the last one counts."""
        plan = shape.nested(update, "plan") or update
        if not isinstance(plan.get("entries"), list):
            raise NotUnderstoodError("a plan without entries")
        lines = "\n".join(map(_plan_line, shape.objects(plan["entries"])))
        text = self._open(MessageRole.PLAN, shape.text(plan, "planId"), moment)
        text.prose = prose.of_blocks([{"type": "text", "text": lines}])

    def note(self, text: str, moment: Moment, *, role: MessageRole) -> None:
        """Say what comes from the agent program itself, and not from its model."""
        self.close_texts()
        origin = None if role is MessageRole.SYSTEM else _SYSTEM
        client_id = self._turn.name("notice", None)
        self._put(
            Message(client_id, role, text, origin, created_at=moment.time, repaired=moment.repaired)
        )

    def tool_call(self, update: _Record, moment: Moment, *, is_new: bool) -> None:
        """Take a record of a tool call: its first one if `is_new`, or a patch."""
        self._take_call(update, lambda: self.calls.take(update, moment, is_new=is_new))

    def tool_content(self, update: _Record, moment: Moment) -> None:
        """Append one block to a tool call's content (version 2)."""
        self._take_call(update, lambda: self.calls.append(update, moment))

    def use(self, usage: Usage) -> None:
        """Tell the tokens of the turn: they belong to its last message."""
        if self._last_message is not None:
            self._outbox.put(self.session, MessageUsage(self._last_message, usage))

    def close_texts(self) -> None:
        """Tell the text that was open."""
        texts, self._texts = self._texts, []
        for text in texts:
            if text.prose.is_empty:
                continue
            if text.role is not MessageRole.USER:
                self._say(text)
            elif text.prose.digest in self._echoes:
                self._echoes.remove(text.prose.digest)
            else:
                self._begin_turn(text.prose)
                self._say(text)

    def end_turn(self) -> None:
        """Close everything: the turn's calls that have no result by now will have none."""
        self.close_texts()
        self._put_all(self.calls.abandon())
        self._prompts = max(0, self._prompts - 1)
        if not self._prompts:
            self._echoes.clear()

    def rest(self) -> None:
        """Take it that the agent has answered; what it runs beside that goes on (version 2)."""
        self.close_texts()
        self._prompts = 0
        self._echoes.clear()

    def show(self) -> None:
        """Tell what is open as it stands, and leave it open: under the names that it will have.

        A user's text is not told before it is whole: until then it may be an echo.
        """
        self.calls.show()
        turn = self._turn.copied()
        for text in self._texts:
            is_untold = text.role is MessageRole.USER or self._is_old_plan(text)
            if not is_untold and not text.prose.is_empty:
                self._outbox.put(self.session, _message(text, turn))

    def finish(self) -> None:
        """Tell everything as it stands, because nothing more will come."""
        self.close_texts()
        self._put_all(self.calls.tell())

    def _open(
        self, role: MessageRole, message_id: str | None, moment: Moment, *, again: bool = False
    ) -> _OpenText:
        """Return the open text of this role and id, or the last one if neither has an id."""
        if self._texts and self._texts[0].role is not role:
            self.close_texts()
        known = [text for text in self._texts if text.message_id == message_id]
        if known and (message_id is not None or known[-1] is self._texts[-1]):
            text = known[-1]
        else:
            text = _OpenText(role, message_id, moment)
            if again and message_id is not None:
                text.client_id = self._turn.name_again(role, message_id)
            self._texts.append(text)
        text.is_repaired |= moment.repaired
        return text

    def _say(self, text: _OpenText) -> None:
        if self._is_old_plan(text):
            return
        if text.role is MessageRole.PLAN:
            self._turn.last_plan = text.prose.text
        self._put(_message(text, self._turn))

    def _is_old_plan(self, text: _OpenText) -> bool:
        return text.role is MessageRole.PLAN and text.prose.text == self._turn.last_plan

    def _put(self, message: Message) -> None:
        self._last_message = message.client_id
        self._outbox.put(self.session, message)

    def _begin_turn(self, said: Prose) -> None:
        # A message to an agent that is at work does not end what it is at.
        if not self._prompts:
            self._put_all(self.calls.abandon())
            self._outbox.release(self.session)
        self._turn = self._turn.next(said.digest)

    def _take_call(self, update: _Record, take: Callable[[], OpenCall]) -> None:
        is_first = self.calls.get(shape.required_text(update, "toolCallId")) is None
        if is_first:
            self.close_texts()
        call = take()
        if is_first:
            self._last_message = call.client_id
        # An agent that has a result speaks anew.
        if call.has_ended:
            self.close_texts()

    def _put_all(self, messages: list[Message]) -> None:
        for message in messages:
            self._put(message)


def _message(text: _OpenText, turn: Turn) -> Message:
    """Return the message of a text, named by its turn."""
    # A user's text has no id in the request that brought it, so it never goes by its id; a
    # plan's id is that of all its states.
    has_id = text.role not in (MessageRole.USER, MessageRole.PLAN)
    message_id = text.message_id if has_id else None
    return Message(
        client_id=text.client_id or turn.name(text.role, message_id),
        role=text.role,
        content=text.prose.text,
        created_at=text.opened.time,
        attachments=tuple(text.prose.attachments),
        repaired=text.is_repaired or text.opened.repaired,
    )


def _plan_line(entry: _Record) -> str:
    """Return `[status] content`, with the priority if it is not the middle one."""
    priority = shape.text(entry, "priority")
    noted = f" ({priority} priority)" if priority not in (None, "medium") else ""
    status, content = shape.text(entry, "status"), shape.text(entry, "content")
    return f"[{status or 'pending'}] {content or ''}{noted}"
