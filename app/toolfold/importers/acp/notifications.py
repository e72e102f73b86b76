"""What whoever stands between a client and an agent hands on, one message at a time.

`session/update` notifications, whole or bare, are what it takes to record a session. The requests
`session/prompt` and `session/request_permission`, and a prompt's response, say when a turn begins
and ends, which an agent that does not repeat its user's text tells in no other way.
"""

from toolfold.importers.acp import replies, shape, wire
from toolfold.importers.acp.outbox import Told
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.turn import Moment
from toolfold.importers.acp.updates import SessionUpdates
from toolfold.transcript import Json


def take(updates: SessionUpdates, value: Json, moment: Moment) -> list[Told]:
    """Return what a message of the session makes known.

    Raises:
        NotUnderstoodError: if it is none that is known; it is then as if it had not come.
    """
    message = wire.unwrap(shape.fields(value, "the message"))
    params = shape.nested(message, "params")
    match message:
        case {"method": "session/prompt"}:
            return updates.prompt(params.get("prompt"), moment)
        case {"method": "session/request_permission"}:
            return updates.permission(params, moment)
        case {"method": "session/update"}:
            return updates.update(params.get("update"), moment)
        case {"method": method}:
            raise NotUnderstoodError(f"unknown method {method}")
        case {"result": {"stopReason": _} as result}:
            return updates.end_turn(replies.usage(result))
        case {"error": dict(error), "id": _}:
            return updates.fail(error, moment)
    return updates.update(message.get("update", message), moment)
