"""The methods of ACP: who sends each, and by what its result is known."""

import enum

from toolfold.importers.acp import shape
from toolfold.transcript import Json


class Side(enum.Enum):
    """Who sends a message."""

    CLIENT = enum.auto()
    AGENT = enum.auto()


_CLIENT = frozenset(
    {
        "auth/login",
        "auth/logout",
        "auth/status",
        "authenticate",
        "initialize",
        "logout",
        "providers/disable",
        "providers/list",
        "providers/set",
        "session/archive",
        "session/cancel",
        "session/close",
        "session/delete",
        "session/fork",
        "session/list",
        "session/load",
        "session/new",
        "session/prompt",
        "session/resume",
        "session/set_config_option",
        "session/set_mode",
        "session/set_model",
        "session/status",
        "session/unarchive",
        "terminal/cancel",
        "tool_call/cancel",
    }
)
_AGENT = frozenset(
    {
        "_auth/status_update",
        "auth/status_update",
        "fs/read_text_file",
        "fs/write_text_file",
        "session/request_permission",
        "session/update",
        "terminal/create",
        "terminal/kill",
        "terminal/output",
        "terminal/release",
        "terminal/wait_for_exit",
    }
)
_EITHER = frozenset({"$/cancel_request"})

_RESULT_KEYS = {
    "initialize": frozenset({"protocolVersion"}),
    "session/new": frozenset({"sessionId"}),
    "session/fork": frozenset({"sessionId"}),
    # Version 2 answers with the message's id, before the work is done.
    "session/prompt": frozenset({"stopReason", "messageId"}),
    "session/request_permission": frozenset({"outcome"}),
    "fs/read_text_file": frozenset({"content"}),
    "terminal/create": frozenset({"terminalId"}),
    "terminal/output": frozenset({"output"}),
}
"""By method, keys of which its result has one; that of any other method has none of them all."""

_ALL_RESULT_KEYS = frozenset[str]().union(*_RESULT_KEYS.values())


def is_known(method: str) -> bool:
    """Say whether it is understood what a method means for a transcript, were it nothing.

    What files hold that a client reads or writes for the agent stands in the agent's tool calls as
    far as the agent shows it, so `fs/` methods mean nothing of their own.
    """
    return method in _CLIENT or method in _AGENT or method in _EITHER


def sender(method: str) -> Side | None:
    """Return which side sends a method; None if ACP does not say."""
    if method in _CLIENT:
        return Side.CLIENT
    return Side.AGENT if method in _AGENT else None


def fits(method: str, result: Json) -> bool:
    """Say whether `result` can be that of a method, by the keys that it has."""
    keys = frozenset(shape.nested({"result": result}, "result"))
    return bool(keys & _RESULT_KEYS.get(method, frozenset())) or (
        method not in _RESULT_KEYS and not keys & _ALL_RESULT_KEYS
    )


def of_result(result: Json) -> str | None:
    """Return the client's method that a result is of, where no request says it."""
    known = ("initialize", "session/prompt", "session/new")
    return next((method for method in known if fits(method, result)), None)
