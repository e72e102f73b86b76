"""Transcript values as columns of the table `message`."""

from collections.abc import Iterator
from typing import Any

from toolfold import readable, stored_json
from toolfold.ingest.light_texts import (
    MAX_LOCATION_CHARACTERS,
    MAX_LOCATIONS,
    MAX_NAME_CHARACTERS,
    MAX_PATH_CHARACTERS,
    MAX_TITLE_CHARACTERS,
)
from toolfold.ingest.preparation import (
    Part,
    Preparation,
    mend,
    optional_timestamp,
)
from toolfold.settings import MAX_BIG_INT, MAX_INT
from toolfold.store.message import MAX_TEXT_BYTES
from toolfold.store.recording.message import USAGE
from toolfold.store.recording.rows import Values
from toolfold.transcript import (
    UNSET,
    ContentState,
    Json,
    Message,
    MessageRole,
    ToolCall,
    ToolCallUpdate,
    ToolLocation,
    Usage,
)

Columns = dict[str, Any]
"""Values by column name. `created_at` may be None here: it then follows from its surroundings."""

PARTS = {
    "tool_content": "tool_content_hash",
    "raw_input": "raw_input_hash",
    "raw_output": "raw_output_hash",
    "content": "content_hash",
}
"""The column that holds the hash of each heavy part, by the part's name in `content_reference`."""

NO_CALL: Columns = dict.fromkeys(
    (
        "tool_call_id",
        "tool_name",
        "tool_title",
        "tool_kind",
        "tool_status",
        "tool_locations",
        "tool_started_at",
        "tool_ended_at",
        "child_source_session",
        "tool_content_size",
        "tool_content_hash",
        "tool_content_state",
        "tool_content_preview",
        "raw_input_size",
        "raw_input_hash",
        "raw_output_size",
        "raw_output_hash",
    )
)
"""The tool call's columns of a message that carries none."""


def of_message(message: Message, preparation: Preparation) -> Columns:
    """Return every column that a message has of itself: all but its key and its revision."""
    call = message.tool_call
    columns: Columns = {
        "client_id": preparation.identifier(message.client_id),
        "client_digest": None,
        "role": message.role.value,
        "origin": preparation.optional_light_text("origin", message.origin, MAX_NAME_CHARACTERS),
        "model": preparation.optional_light_text("model", message.model, MAX_NAME_CHARACTERS),
        "created_at": optional_timestamp(message.created_at),
        "attachment_count": len(message.attachments),
        **of_usage(message.usage),
        **(NO_CALL if call is None else _of_call(call, preparation)),
        **_of_text(message.content, preparation),
    }
    columns["repaired"] = message.repaired or preparation.repaired
    return columns


def of_update(update: ToolCallUpdate, preparation: Preparation) -> Columns:
    """Return the columns that an update changes; `repaired` only if it becomes true."""
    columns: Columns = {}
    if update.name is not UNSET:
        columns["tool_name"] = _name(update.name, preparation)
    if update.title is not UNSET:
        columns["tool_title"] = _title(update.title, preparation)
    if update.child_session is not UNSET:
        columns["child_source_session"] = preparation.identifier(update.child_session)
    for name, member in (("tool_kind", update.kind), ("tool_status", update.status)):
        if member is not UNSET:
            columns[name] = member.value
    for name, time in (
        ("tool_started_at", update.started_at),
        ("tool_ended_at", update.ended_at),
    ):
        if time is not UNSET:
            columns[name] = optional_timestamp(time)
    if update.locations is not UNSET:
        columns["tool_locations"] = _of_locations(update.locations or (), preparation)
    columns |= _of_updated_parts(update, preparation)
    if update.repaired or preparation.repaired:
        columns["repaired"] = True
    return columns


def of_unknown_call(tool_call_id: str) -> Columns:
    """Return the columns of a message for a call of which only an update is known."""
    call = ToolCall(tool_call_id)
    message = Message(client_id=f"tool:{tool_call_id}", role=MessageRole.TOOL, tool_call=call)
    return of_message(message, Preparation())


def of_usage(usage: Usage | None) -> Columns:
    """Return the columns of a usage; all null for none."""
    if usage is None:
        return dict.fromkeys(USAGE)
    return {name: max(0, min(getattr(usage, name), MAX_BIG_INT)) for name in USAGE}


def of_attachments(message: Message, preparation: Preparation) -> list[Values]:
    """Return the rows of a message's attachments, without the message's key."""
    rows: list[Values] = []
    for position, attachment in enumerate(message.attachments):
        mime_type = preparation.light_text(
            "attachment's media type", attachment.mime_type, MAX_NAME_CHARACTERS
        )
        part = preparation.file_part(attachment.data, mime_type)
        rows.append(
            {
                "position": position,
                "hash": part.hash,
                "size": part.size,
                "mime_type": mime_type,
                "name": preparation.optional_light_text(
                    "attachment's name", attachment.name, MAX_TITLE_CHARACTERS
                ),
            }
        )
    return rows


def make_coherent(columns: Columns) -> None:
    """Let the state of a call's content agree with whether there is one."""
    if columns["tool_call_id"] is None:
        return
    is_recorded = columns["tool_content_hash"] is not None
    state = columns["tool_content_state"]
    if is_recorded and state in (None, ContentState.NONE_RECORDED):
        columns["tool_content_state"] = ContentState.COMPLETE.value
    elif not is_recorded and state in (None, ContentState.COMPLETE):
        columns["tool_content_state"] = ContentState.NONE_RECORDED.value


def _of_call(call: ToolCall, preparation: Preparation) -> Columns:
    columns = {
        "tool_call_id": preparation.identifier(call.tool_call_id),
        "tool_name": _name(call.name, preparation),
        "tool_title": _title(call.title, preparation),
        "tool_kind": call.kind.value,
        "tool_status": call.status.value,
        "tool_locations": _of_locations(call.locations, preparation),
        "tool_started_at": optional_timestamp(call.started_at),
        "tool_ended_at": optional_timestamp(call.ended_at),
        "child_source_session": preparation.optional_identifier(call.child_session),
        **_of_content(call.content, preparation),
        **_of_raw("raw_input", call.raw_input, preparation),
        **_of_raw("raw_output", call.raw_output, preparation),
    }
    if call.content_state is not None and columns["tool_content_state"] != ContentState.MISSING:
        columns["tool_content_state"] = call.content_state.value
    return columns


def _of_updated_parts(update: ToolCallUpdate, preparation: Preparation) -> Columns:
    columns: Columns = {}
    if update.content is not UNSET:
        columns |= _of_content(update.content, preparation)
    if (
        update.content_state is not UNSET
        and columns.get("tool_content_state") != ContentState.MISSING
    ):
        columns["tool_content_state"] = update.content_state.value
    if update.raw_input is not UNSET:
        columns |= _of_raw("raw_input", update.raw_input, preparation)
    if update.raw_output is not UNSET:
        columns |= _of_raw("raw_output", update.raw_output, preparation)
    return columns


def _of_content(value: Json, preparation: Preparation) -> Columns:
    part = preparation.json_part("tool_content", value, has_blocks=True)
    if part is not None:
        state = ContentState.COMPLETE
    else:
        state = ContentState.NONE_RECORDED if value is None else ContentState.MISSING
    return {
        **_of_part("tool_content", part),
        "tool_content_state": state.value,
        # A NUL in stored JSON is kept, so one in its preview is nothing that was repaired.
        "tool_content_preview": None if part is None else mend(readable.preview(value)),
    }


def _of_raw(name: str, value: Json, preparation: Preparation) -> Columns:
    return _of_part(name, preparation.json_part(name, value))


def _of_part(name: str, part: Part | None) -> Columns:
    if part is None:
        return {f"{name}_size": None, f"{name}_hash": None}
    return {f"{name}_size": part.size, f"{name}_hash": part.hash}


def _of_locations(locations: tuple[ToolLocation, ...], preparation: Preparation) -> str:
    """Return the first places as JSON; all of them are kept elsewhere if they are too many."""
    kept = list(_first_of(locations))
    if len(kept) < len(locations):
        every = [{"path": place.path, "line": place.line} for place in locations]
        preparation.too_long.append(("locations", stored_json.text(every)))
    places = [
        {
            "path": preparation.light_text("path", place.path, MAX_PATH_CHARACTERS),
            "line": _line(place.line),
        }
        for place in kept
    ]
    return stored_json.encode(places).decode()


def _first_of(locations: tuple[ToolLocation, ...]) -> Iterator[ToolLocation]:
    characters = 0
    for place in locations[:MAX_LOCATIONS]:
        characters += min(len(place.path), MAX_PATH_CHARACTERS)
        if characters > MAX_LOCATION_CHARACTERS:
            return
        yield place


def _name(name: str | None, preparation: Preparation) -> str | None:
    return preparation.optional_light_text("tool name", name, MAX_NAME_CHARACTERS)


def _title(title: str | None, preparation: Preparation) -> str | None:
    return preparation.optional_light_text("tool title", title, MAX_TITLE_CHARACTERS)


def _line(number: int | None) -> int | None:
    """Return a line's number; None for one that no file has."""
    return number if number is not None and 0 <= number <= MAX_INT else None


def _of_text(text: str, preparation: Preparation) -> Columns:
    mended = preparation.text(text)
    data = mended.encode()
    is_content = len(data) > MAX_TEXT_BYTES
    return {
        "content_size": len(data),
        "content_hash": preparation.text_part("content", data).hash if is_content else None,
        "content_preview": mended[: readable.PREVIEW_CHARACTERS],
        "content": None if is_content else mended,
    }
