"""What a client and an agent say to each other, as values of the sessions that it is about.

A session that begins in the log (by `session/new`, or by a load that tells its history) is whole
here: when it is loaded again, the history between that request and its response is skipped. The
history of a session that another log may hold is told; its messages have the client ids that they
have there.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from toolfold.importers.acp import methods, replies, shape
from toolfold.importers.acp.facts import Facts
from toolfold.importers.acp.outbox import Told
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.turn import Moment
from toolfold.importers.acp.updates import SessionUpdates
from toolfold.importers.acp.wire import Call, Logged, Reply, Wire
from toolfold.importers.jsonl import Decoded
from toolfold.transcript import Json, Message, MessageRole, Session

_Params = dict[str, Json]
_NO_FACTS = Session()


@dataclass(slots=True)
class _Open:
    updates: SessionUpdates
    is_whole: bool
    is_skipped: bool = False
    """Whether what comes is history that was told before."""


class Exchange:
    """What is known while a log is read: its requests, its sessions, the agent."""

    def __init__(self, path: Path) -> None:
        """Begin; the path names what the log leaves without a name of its own."""
        self._wire = Wire()
        self._facts = Facts()
        digest = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()
        self._nameless_session = f"log-{digest[:16]}"
        self._scope = f"{digest[:8]}:"
        self._open: dict[str, _Open] = {}
        self._last_session = self._nameless_session
        self._told: list[Told] = []
        self._on_call: dict[str, Callable[[_Params, Moment], None]] = {
            "session/load": self._begin_load,
            "session/resume": self._begin_resume,
            "session/prompt": self._take_prompt,
            "session/update": self._take_update,
            "session/request_permission": self._take_permission,
        }
        self._on_reply: dict[str, Callable[[_Params, Reply, Moment], None]] = {
            "initialize": self._take_agent,
            "session/new": self._take_new_session,
            "session/fork": self._take_new_session,
            "session/load": self._end_load,
            "session/resume": self._end_load,
            "session/prompt": self._end_prompt,
            "terminal/create": self._take_terminal,
            "terminal/output": self._take_terminal,
            "terminal/wait_for_exit": self._take_terminal,
        }

    def take(self, decoded: Decoded) -> list[Told]:
        """Return what one value of the log made known.

        Raises:
            NotUnderstoodError: if it is no message of ACP, or says nothing that is known.
        """
        return self._take(self._wire.read(decoded.value), repaired=decoded.repaired)

    def hear(self, decoded: Decoded, direction: str, time: datetime) -> list[Told]:
        """Return what a message made known that went this way at this time; raises as `take`."""
        logged = self._wire.hear(decoded.value, direction, time)
        return self._take(logged, repaired=decoded.repaired)

    def show(self) -> list[Told]:
        """Return what is open as it stands, under the names that it will have.

        A history that is being told again is none of it. Nor are plans: of those in a row only the
        last one counts, and a text that is told again can but have grown.
        """
        for opened in self._open.values():
            if not opened.is_skipped and not opened.updates.is_replaying:
                self._pass_on(opened.updates.show())
        return [
            (session, value)
            for session, value in self._drain()
            if not (isinstance(value, Message) and value.role is MessageRole.PLAN)
        ]

    def _take(self, logged: Logged, *, repaired: bool) -> list[Told]:
        moment = Moment(logged.time, repaired)
        if isinstance(logged.message, Call):
            self._take_call(logged.message, moment)
        else:
            self._take_reply(logged.message, moment)
        return self._drain()

    def finish(self) -> list[Told]:
        """Return what the end of the log made known."""
        for opened in self._open.values():
            self._pass_on(opened.updates.finish())
        return self._drain() + self._facts.last()

    def _drain(self) -> list[Told]:
        told, self._told = self._told, []
        return told

    def _take_call(self, call: Call, moment: Moment) -> None:
        if not methods.is_known(call.method):
            raise NotUnderstoodError(f"unknown method {call.method}")
        handle = self._on_call.get(call.method)
        if handle is not None:
            handle(call.params, moment)

    def _take_reply(self, reply: Reply, moment: Moment) -> None:
        method = reply.call.method if reply.call else methods.of_result(reply.result)
        if method is None or not methods.is_known(method):
            raise NotUnderstoodError("a response to no known request")
        handle = self._on_reply.get(method)
        if handle is not None:
            handle(reply.call.params if reply.call else {}, reply, moment)

    def _take_agent(self, _params: _Params, reply: Reply, _moment: Moment) -> None:
        self._facts.agent = replies.agent_name(reply.fields) or self._facts.agent

    def _take_new_session(self, params: _Params, reply: Reply, moment: Moment) -> None:
        session = shape.text(reply.fields, "sessionId")
        if session is not None:
            is_fork = reply.call is not None and reply.call.method == "session/fork"
            self._updates(session, moment, _place(params), is_whole=not is_fork)

    def _begin_load(self, params: _Params, moment: Moment) -> None:
        session = shape.required_text(params, "sessionId")
        opened = self._open.get(session)
        if opened is not None and opened.is_whole:
            opened.is_skipped = True
        else:
            if opened is not None:
                self._pass_on(opened.updates.finish())
            opened = self._open[session] = _Open(SessionUpdates(session), is_whole=True)
            opened.updates.begin_replay()
        self._updates(session, replace(moment, time=None), _place(params))

    def _begin_resume(self, params: _Params, moment: Moment) -> None:
        # Version 2 has no load; a resume may ask for the history.
        if params.get("replayFrom") is not None:
            self._begin_load(params, moment)
        else:
            session = shape.required_text(params, "sessionId")
            self._updates(session, moment, _place(params), is_whole=False)

    def _end_load(self, params: _Params, _reply: Reply, _moment: Moment) -> None:
        opened = self._open.get(shape.text(params, "sessionId") or "")
        if opened is not None:
            self._end_replay(opened)

    def _end_replay(self, opened: _Open) -> None:
        if opened.is_skipped:
            opened.is_skipped = False
        elif opened.updates.is_replaying:
            self._pass_on(opened.updates.end_replay())

    def _take_prompt(self, params: _Params, moment: Moment) -> None:
        session = shape.required_text(params, "sessionId")
        updates = self._updates(session, moment)
        # A load that was never answered has ended when its client goes on.
        self._end_replay(self._open[session])
        self._pass_on(updates.prompt(params.get("prompt"), moment))

    def _end_prompt(self, params: _Params, reply: Reply, moment: Moment) -> None:
        session = shape.text(params, "sessionId") or self._last_session
        updates = self._updates(session, moment)
        if reply.error is not None:
            self._pass_on(updates.fail(reply.error, moment))
        elif "stopReason" in reply.fields:
            # Version 2 answers a prompt at once, with a message's id instead.
            self._pass_on(updates.end_turn(replies.usage(reply.fields)))

    def _take_update(self, params: _Params, moment: Moment) -> None:
        session = shape.text(params, "sessionId") or self._nameless_session
        updates = self._updates(session, moment)
        if updates.is_replaying:
            # When it is told again is not when it was.
            moment = replace(moment, time=None)
        if not self._open[session].is_skipped:
            self._pass_on(updates.update(params.get("update"), moment))

    def _take_permission(self, params: _Params, moment: Moment) -> None:
        updates = self._updates(shape.required_text(params, "sessionId"), moment)
        self._pass_on(updates.permission(params, moment))

    def _take_terminal(self, params: _Params, reply: Reply, moment: Moment) -> None:
        is_created = "terminalId" in reply.fields
        session = shape.text(params, "sessionId")
        terminal_id = shape.text(reply.fields if is_created else params, "terminalId")
        if reply.error is not None or session is None or terminal_id is None:
            return
        terminal = self._updates(session, moment).terminal(terminal_id)
        if is_created:
            terminal.run(replies.command(params))
        elif "output" in reply.fields:
            replies.take_output(terminal, reply.fields)
        else:
            terminal.end(reply.fields)

    def _updates(
        self,
        session: str,
        moment: Moment,
        facts: Session = _NO_FACTS,
        *,
        is_whole: bool | None = None,
    ) -> SessionUpdates:
        """Return the state of a session, and tell of it if it or one of the facts is new."""
        opened = self._open.get(session)
        if opened is None:
            if is_whole is None:
                # An agent may send updates of a session before it answers who asked for it.
                is_whole = session == self._nameless_session or self._wire.awaits("session/new")
            updates = SessionUpdates(session, scope="" if is_whole else self._scope)
            opened = self._open[session] = _Open(updates, is_whole)
        self._last_session = session
        self._told += self._facts.learn(session, facts, moment.time)
        return opened.updates

    def _pass_on(self, told: list[Told]) -> None:
        for session, value in told:
            if isinstance(value, Session):
                self._told += self._facts.learn(session, value, None)
            else:
                self._told.append((session, value))


def _place(params: _Params) -> Session:
    """Return what a request that opens a session says of it."""
    return Session(cwd=shape.text(params, "cwd"))
