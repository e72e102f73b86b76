"""Under which client ids a stream's messages are stored, beside messages that are not the stream's.

The importer's code names messages as if a session were told by one log alone. It may have been
imported, though, or appended to by others: then what the stream tells first is stored under another
id where its own is taken, and a call that the session has already goes on in its message. What was
so decided is kept with the stream's messages, for whoever makes its state anew.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from toolfold.importers.acp.outbox import Told
from toolfold.ingest import light_texts, retelling
from toolfold.ingest.batch import Batch, SessionBatch
from toolfold.ingest.preparation import mend
from toolfold.store.recording import message, session
from toolfold.transcript import Message, MessageUsage, Value

Key = tuple[str, str]
"""A session's own id in the stream, and the client id that the importer's code gives."""


class TakenError(Exception):
    """Others have client ids of new messages; `names` are those to be stored under instead."""

    def __init__(self, names: Mapping[Key, str]) -> None:
        super().__init__()
        self.names = names


@dataclass(slots=True)
class Names:
    """What a stream has told so far; `others` are the client ids that are not its own."""

    others: dict[Key, str] = field(default_factory=dict)
    _told: set[Key] = field(default_factory=set)

    def know(self, others: Mapping[Key, str]) -> None:
        """Take over what was decided; what was decided before stays."""
        self.others = {**others, **self.others}

    def note(self, told: Iterable[Told]) -> set[Key]:
        """Count messages as told; return the keys of those that were not before."""
        keys = {(own_id, value.client_id) for own_id, value in told if isinstance(value, Message)}
        new = keys - self._told
        self._told |= new
        return new

    def stored(self, own_id: str, value: Value) -> Value:
        """Return a value with the client id under which its message is stored."""
        if isinstance(value, Message | MessageUsage):
            other = self.others.get((own_id, value.client_id))
            return value if other is None else replace(value, client_id=other)
        return value


def patch(batch: Batch, others: Mapping[Key, str]) -> None:
    """Let calls that are told for the first time, under these client ids, change those stored."""
    for (own_id, _), name in others.items():
        told = batch.sessions[own_id].told[_in_row(name)]
        if told.columns["tool_call_id"] is not None:
            told.patch = retelling.given(told.columns) | told.patch


def require_own(
    connection: Connection, key: tuple[str, str], batch: Batch, new: Iterable[Key]
) -> None:
    """Look for messages that have the client ids, or are the calls, of new ones in a batch.

    The stream's session, which has this key, is locked already.

    Raises:
        TakenError: if there are any; nothing may be written then.
    """
    own: dict[str, dict[str, Key]] = {}
    for own_id, client_id in new:
        own.setdefault(own_id, {})[_in_row(client_id)] = (own_id, client_id)
    children = {batch.sessions[own_id].identity.id for own_id in own} - {key[1]}
    if children:
        session.lock(connection, key[0], children)
    names: dict[Key, str] = {}
    for own_id, keys in own.items():
        names |= _others(connection, key[0], batch.sessions[own_id], keys)
    if names:
        raise TakenError(names)


def _others(
    connection: Connection, project_id: str, one: SessionBatch, keys: Mapping[str, Key]
) -> dict[Key, str]:
    place = project_id, one.identity.id
    calls = {
        name: call_id
        for name in keys
        if (call_id := one.told[name].columns["tool_call_id"]) is not None
    }
    stored = message.by_client_ids(connection, *place, keys.keys())
    called = message.by_tool_call_ids(connection, *place, set(calls.values()))
    found: dict[Key, str] = {}
    for name, key in keys.items():
        call: Any = called.get(calls.get(name, ""))
        if call is not None:
            found[key] = call["client_id"]
        elif name in stored:
            found[key] = f"{key[1]}~{uuid.uuid4().hex[:12]}"
    return found


def _in_row(client_id: str) -> str:
    return light_texts.identifier(mend(client_id))
