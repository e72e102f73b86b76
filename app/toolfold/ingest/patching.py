"""Patches of tool calls that a client sends: all of them or none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from toolfold.errors import InvalidInputError
from toolfold.events import Position
from toolfold.ingest import columns, lifecycle
from toolfold.ingest.appending import CLIENT, Limits, add, naming
from toolfold.ingest.batch import Batch, Patch, SessionBatch, Told
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.preparation import timestamp
from toolfold.ingest.writing import write
from toolfold.store.recording import message
from toolfold.transcript import Entry, ToolCallUpdate

_SIZES = ("tool_content_size", "raw_input_size", "raw_output_size")


@dataclass(frozen=True, slots=True)
class Patches:
    """Updates ready to be applied: the calls that they are of, in order, and what they say."""

    session_id: str
    tool_call_ids: tuple[str, ...]
    batch: Batch


@dataclass(frozen=True, slots=True)
class Patched:
    """What came of it: the sequence of each update's message."""

    sequences: tuple[int, ...]
    position: Position


def prepare(session_id: str, updates: Sequence[ToolCallUpdate], limits: Limits) -> Patches:
    """Make updates ready to be written, which takes no database; of one call they are merged.

    Raises:
        TooLargeError: if they are more than is taken at once.
        InvalidJsonError: if there is JSON that cannot be stored.
    """
    limits.require("updates", count=len(updates))
    gatherer = Gatherer(CLIENT, keeps_raw=False)
    gatherer.add(naming(session_id))
    for place, update in enumerate(updates):
        add(gatherer, Entry(session_id, None, update), "updates", place)
    batch = gatherer.take()
    patches = [item.columns for item in batch.sessions[session_id].items]
    limits.require(
        "updates", size=sum(patch.get(name) or 0 for patch in patches for name in _SIZES)
    )
    return Patches(session_id, tuple(update.tool_call_id for update in updates), batch)


def patch(connection: Connection, project_id: str, patches: Patches, *, now: datetime) -> Patched:
    """Apply the updates; a call that is not stored yet becomes a message at the end.

    Raises:
        UnknownIdError: if there is no such session.
        InvalidInputError: if it is archived, or a message that is no call has a new call's name.
    """
    session = project_id, patches.session_id
    row = lifecycle.require_open(connection, *session, "sessionId")
    revision = row["head_revision"]
    if patches.tool_call_ids:
        known = message.by_tool_call_ids(connection, *session, set(patches.tool_call_ids))
        _require_free_names(connection, session, patches, set(known))
        batch = _with_new_calls(patches, set(known), timestamp(now))
        (counts,) = write(connection, project_id, batch, base_time=now).sessions
        revision = counts.head_revision
    calls = message.by_tool_call_ids(connection, *session, set(patches.tool_call_ids))
    return Patched(
        sequences=tuple(calls[call_id]["sequence"] for call_id in patches.tool_call_ids),
        position=Position(*session, revision),
    )


def _require_free_names(
    connection: Connection, session: tuple[str, str], patches: Patches, known: set[str]
) -> None:
    """Refuse a new call whose message would have the client id of another message."""
    names = {
        columns.of_unknown_call(call_id)["client_id"]: place
        for place, call_id in enumerate(patches.tool_call_ids)
        if call_id not in known
    }
    for name in message.by_client_ids(connection, *session, names.keys()):
        raise InvalidInputError(
            f"The call is not known, and a message has its client id, {name!r}.",
            *("updates", names[name], "toolCallId"),
        )


def _with_new_calls(patches: Patches, known: set[str], time: str) -> Batch:
    """Return the batch in which the calls that are not stored yet are messages of this time."""
    said = patches.batch.sessions[patches.session_id]
    items: list[Told | Patch] = []
    told: dict[str, Told] = {}
    for item in said.items:
        if isinstance(item, Patch) and item.tool_call_id not in known:
            row = columns.of_unknown_call(item.tool_call_id or "")
            new = Told({**row, "created_at": time}, [], item.columns)
            told[new.columns["client_id"]] = new
            items.append(new)
        else:
            items.append(item)
    session = SessionBatch(said.identity, items=items, told=told, live_at=time)
    return replace(patches.batch, sessions={patches.session_id: session})
