"""The messages of a log: JSON-RPC, whichever side sent it, and whatever a logger put around it.

Both sides number their requests from 0, so a response alone does not say what it answers. A method
tells who sent a request; where a logger notes directions, they are learned from that.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from toolfold.importers.acp import methods, shape
from toolfold.importers.acp.methods import Side
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.transcript import Json

_TIME_KEYS = ("ts", "time", "timestamp")
_DIRECTION_KEYS = ("dir", "direction")
_FIRST_MILLISECONDS = 100_000_000_000
"""A number of seconds as large as this is in the year 5138; one of milliseconds in 1973."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request, or a notification: one that has no id and awaits no response."""

    method: str
    params: dict[str, Json]
    id: Json = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: the call that it answers if the log has it, and the error if it is one."""

    call: Call | None
    result: Json = None
    error: Json = None

    @property
    def fields(self) -> dict[str, Json]:
        """The result if it is an object, else an empty one."""
        return self.result if isinstance(self.result, dict) else {}


@dataclass(frozen=True, slots=True)
class Logged:
    """One message of a log, and when it was logged, if the log says so."""

    message: Call | Reply
    time: datetime | None


class Wire:
    """Reads a log's values as messages; remembers the requests that await a response."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Call]] = {}
        self._senders: dict[str, Side] = {}

    def read(self, value: Json) -> Logged:
        """Return the message in one value of a log; a bare update is the call that brings it.

        Raises:
            NotUnderstoodError: if there is none.
        """
        envelope = shape.fields(value, "the line")
        message = unwrap(envelope)
        texts = (shape.text(envelope, key) for key in _DIRECTION_KEYS)
        direction = next(filter(None, texts), "")
        return Logged(self._message(message, direction), _time(envelope))

    def hear(self, value: Json, direction: str, time: datetime) -> Logged:
        """Return a message that was heard at this time, going this way.

        Raises:
            NotUnderstoodError: if there is none.
        """
        return Logged(self._message(shape.fields(value, "the line"), direction), time)

    def awaits(self, method: str) -> bool:
        """Say whether a request of this method has had no response so far."""
        return any(call.method == method for calls in self._waiting.values() for call in calls)

    def _message(self, message: dict[str, Json], direction: str) -> Call | Reply:
        if "method" in message:
            return self._call(message, direction)
        if "sessionUpdate" in message:
            return Call("session/update", {"update": message})
        if "update" in message:
            return Call("session/update", message)
        if "result" in message or "error" in message:
            return self._reply(message, direction)
        raise NotUnderstoodError("not a message of ACP")

    def _call(self, message: dict[str, Json], direction: str) -> Call:
        method = shape.required_text(message, "method")
        call = Call(method, shape.nested(message, "params"), message.get("id"))
        side = methods.sender(method)
        if side is not None and direction:
            self._senders[direction] = side
        if call.id is not None:
            self._waiting.setdefault(repr(call.id), []).append(call)
        return call

    def _reply(self, message: dict[str, Json], direction: str) -> Reply:
        result, error = message.get("result"), message.get("error")
        request_id = repr(message.get("id"))
        waiting = self._waiting.get(request_id, [])
        # Who answers did not ask.
        side = self._senders.get(direction)
        possible = [
            call
            for call in waiting
            if (side is None or methods.sender(call.method) is not side)
            and (error is not None or methods.fits(call.method, result))
        ]
        if not possible:
            return Reply(None, result, error)
        # An agent's request is made, and answered, while the client's prompt waits.
        call = possible[-1]
        self._waiting[request_id] = [other for other in waiting if other is not call]
        if not self._waiting[request_id]:
            del self._waiting[request_id]
        return Reply(call, result, error)


def unwrap(envelope: dict[str, Json]) -> dict[str, Json]:
    """Return the JSON-RPC message that a logger put into an object of its own; else the object."""
    if "jsonrpc" in envelope or "method" in envelope or "sessionUpdate" in envelope:
        return envelope
    inner = [
        value
        for value in envelope.values()
        if isinstance(value, dict) and value.get("jsonrpc") == "2.0"
    ]
    return inner[0] if len(inner) == 1 else envelope


def _time(envelope: dict[str, Json]) -> datetime | None:
    """Return the time that a logger noted: RFC 3339, or seconds or milliseconds since 1970."""
    for key in _TIME_KEYS:
        value = envelope.get(key)
        try:
            if isinstance(value, str):
                time = datetime.fromisoformat(value)
                return time if time.tzinfo else time.replace(tzinfo=UTC)
            if isinstance(value, int | float) and not isinstance(value, bool):
                seconds = value / 1000 if value >= _FIRST_MILLISECONDS else value
                return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            continue
    return None
