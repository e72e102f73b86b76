"""What the tools read, through GraphQL documents, and how they say what is not there."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from mcp.server.mcpserver.exceptions import ToolError

from toolfold.documents import Documents
from toolfold.errors import AppError, CorruptContentError
from toolfold.mcp_server import queries
from toolfold.mcp_server.safe_text import is_storable, shortened
from toolfold.mcp_server.slices import Body, Slice, Value, stored_sizes
from toolfold.schema.enums import MessageRole
from toolfold.schema.global_id import SessionKey, encode, session_key
from toolfold.schema.message import MessageFilter, message_cursor, message_scope

MAX_AT_ONCE = 100
"""Messages whose parts are read together."""

_COUNTED_BYTES = 1024 * 1024
"""Of an output up to this all is read to say how long its text is."""

_SHOWN_CHARACTERS = 80
_MAX_ID_CHARACTERS = 500


class DamagedContentError(ToolError):
    """What is stored of a content is not what was recorded."""


class Reader:
    """Reads sessions for the tools; raises `ToolError` with a sentence that helps."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.settings = documents.settings

    async def data(self, document: str, **variables: Any) -> Value:
        """Return the data of a document; errors of ours are told, whatever their field.

        Raises:
            ToolError: with their message.
        """
        data, errors = await self._run(document, variables)
        if errors:
            is_damaged = errors[0]["extensions"]["code"] == CorruptContentError.code
            raise (DamagedContentError if is_damaged else ToolError)(errors[0]["message"])
        return data

    async def change(self, document: str, **variables: Any) -> Value:
        """Return the data of a mutation, as `data` does.

        Raises:
            ToolError: with the message of an error.
        """
        data, errors = _told(await self._documents.write(document, variables))
        if errors:
            raise ToolError(errors[0]["message"])
        return data

    async def session(self, document: str, session_id: str, **variables: Any) -> Value:
        """Return the session of a document that asks for one, as `data` does.

        Raises:
            ToolError: if there is none.
        """
        self.key(session_id)
        found = (await self.data(document, id=session_id, **variables))["session"]
        if found is None:
            raise no_session(session_id)
        return dict(found)

    async def message(self, session_id: str, sequence: int) -> tuple[Value, Value]:
        """Return a session and one of its messages.

        Raises:
            ToolError: if there is no such session or message.
        """
        id_ = self.message_id(session_id, sequence)
        data = await self.data(queries.MESSAGE, session=session_id, id=id_)
        if data["session"] is None:
            raise no_session(session_id)
        if data["message"] is None:
            count = data["session"]["messageCount"]
            raise ToolError(f"There is no message {sequence}: the session has {count}, from 1 on.")
        return data["session"], data["message"]

    async def of_message(self, document: str, message_id: str, **variables: Any) -> Value:
        """Return the message of a document that asks for one that was there, as `data` does.

        Raises:
            ToolError: if it, or its tool call, was deleted meanwhile.
        """
        found = (await self.data(document, id=message_id, **variables))["message"]
        if found is None or found["toolMetadata"] is None:
            raise _gone()
        return dict(found)

    async def part(self, message: Value, name: str, offset: int, length: int) -> Slice | None:
        """Return bytes of a part of a message, fewer where it ends; None if it has no such part.

        Raises:
            ToolError: if the offset is beyond its end.
        """
        found = await self._slice(message, name, offset, max(1, length))
        if found is None:
            return None
        if found.length == 0 and offset > found.end:
            raise ToolError(f"offset {offset} is beyond the end: there are {found.end} bytes.")
        # Where the server's slices are shorter than what was asked for.
        while 0 < found.length < length and found.has_rest:
            more = await self._slice(message, name, found.end, length - found.length)
            if more is None or more.offset != found.end:
                break
            found = found.followed_by(more)
        return found

    async def beginnings(
        self, message: Value, length: int, known: Mapping[str, Slice]
    ) -> dict[str, Slice]:
        """Return bytes of each part of a message, by name; those that are known are not read.

        Of what is damaged there is the problem.
        """
        parts: dict[str, Slice] = {}
        for name, size in stored_sizes(message).items():
            try:
                part = known.get(name) or await self.part(message, name, 0, length)
            except DamagedContentError as error:
                part = Slice(0, 0, size, "", has_rest=False, is_counted=False, problem=str(error))
            if part is not None:
                parts[name] = part
        return parts

    async def images(self, message: Value) -> list[Value]:
        """Return what stands as base64 in a message's output, its bytes aside."""
        if not (message["toolMetadata"] or {}).get("contentSize"):
            return []
        found = await self.of_message(queries.IMAGES, message["id"])
        return list(found["toolMetadata"]["images"] or [])

    async def bodies(self, messages: Sequence[Value], length: int) -> dict[str, Body]:
        """Return what messages begin with, by id, as far as one operation has room for it."""
        length = min(length, self.settings.max_slice_bytes)
        ids = [message["id"] for message in messages[:MAX_AT_ONCE]]
        data, _ = await self._run(queries.BODIES, {"ids": ids, "length": length})
        found: dict[str, Body] = {}
        for node in (data or {}).get("nodes") or []:
            if node is not None:
                tool = node["toolMetadata"] or {}
                shown = {
                    "text": node["text"],
                    "input": (tool.get("input") or {}).get("slice"),
                    "output": tool.get("output"),
                }
                parts = {name: Slice.of(one) for name, one in shown.items() if one}
                found[node["id"]] = Body(parts, tool.get("images", []))
        return found

    async def files(self, message_id: str, length: int) -> dict[str, tuple[int, str]]:
        """Return the first bytes of a message's files by URL: how many, and their base64.

        One that the operation has no room for is not there.
        """
        length = min(length, self.settings.max_slice_bytes)
        data, _ = await self._run(queries.FILES, {"id": message_id, "length": length})
        message = (data or {}).get("message") or {}
        images = (message.get("toolMetadata") or {}).get("images") or []
        return {
            one["url"]: (one["slice"]["length"], one["slice"]["base64"])
            for one in [*(message.get("attachments") or []), *images]
            if one["slice"]
        }

    async def named(self, name: str) -> list[Value]:
        """Return the sessions that a person means by an id, or by its beginning."""
        if not is_storable(name) or len(name) > _MAX_ID_CHARACTERS:
            return []
        return list((await self.data(queries.NAMED, name=name))["sessionsNamed"])

    async def session_id(self, given: str) -> str:
        """Return the id of a session by that id, or by another that it is known by.

        Raises:
            ToolError: if there is none, or more than one.
        """
        if session_key(given) is not None:
            return given
        found = await self.named(given)
        if not found:
            raise no_session(given)
        if len(found) > 1:
            ids = ", ".join(one["id"] for one in found[:3])
            shown = orjson.dumps(shortened(given, _SHOWN_CHARACTERS)).decode()
            raise ToolError(
                f"{shown} may be any of {len(found)} sessions: {ids}… Give one of them."
            )
        return str(found[0]["id"])

    def key(self, session_id: str) -> SessionKey:
        """Return the key in a session's id.

        Raises:
            ToolError: if it is none.
        """
        key = session_key(session_id)
        if key is None or "\x00" in "".join(key):
            raise no_session(session_id)
        return key

    def message_id(self, session_id: str, sequence: int) -> str:
        """Return the id of a message by its place in a session."""
        return encode("Message", *self.key(session_id), sequence)

    def turn_cursor(self, session_id: str, sequence: int) -> str:
        """Return the cursor after which a session's turns go on."""
        where = MessageFilter(roles=[MessageRole.USER])
        return message_cursor(message_scope(self.key(session_id), where), sequence)

    async def _slice(self, message: Value, name: str, offset: int, length: int) -> Slice | None:
        length = min(length, self.settings.max_slice_bytes)
        variables = {"id": message["id"], "offset": offset, "length": length}
        stored = (message["toolMetadata"] or {}).get("contentSize") or 0
        if name == "output":
            variables["counted"] = self.is_counted(message)
        found: Any = (await self.data(queries.PARTS[name], **variables))["message"]
        if found is None:
            raise _gone()
        for level in ("toolMetadata", "value", "part"):
            if found is None:
                return None
            found = found.get(level, found) if level != "part" else found["part"]
        return None if found is None else Slice.of(found, stored)

    def is_counted(self, message: Value) -> bool:
        """Say whether a message's output is short enough to be read whole, to count in it."""
        return (message["toolMetadata"]["contentSize"] or 0) <= _COUNTED_BYTES

    async def _run(self, document: str, variables: Mapping[str, Any]) -> tuple[Value, list[Value]]:
        return _told(await self._documents.response(document, variables))


def _told(response: Mapping[str, Any]) -> tuple[Value, list[Value]]:
    """Return the data of a response, and its errors, all of them ours.

    Raises:
        ToolError: naming the request under which the log has one that no one expected.
    """
    told = orjson.loads(orjson.dumps(response))
    errors = told.get("errors") or []
    for error in errors:
        if error["extensions"]["code"] == AppError.code:
            request = error["extensions"].get("requestId", "")
            raise ToolError(f"Internal error; the server's log has it as request {request}.")
    return told.get("data") or {}, errors


def _gone() -> ToolError:
    return ToolError("There is no such message any more: it was deleted meanwhile.")


def no_session(session_id: str) -> ToolError:
    """Return the error of an id that no session has."""
    shown = shortened(session_id, _SHOWN_CHARACTERS)
    return ToolError(
        f"There is no session {orjson.dumps(shown).decode()}."
        " Take the id of one from list_sessions."
    )
