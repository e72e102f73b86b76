"""The blocks of a tool call's content, as ACP names them.

Whatever stands in a content becomes a block: what is not known is an `UnknownBlock` that holds
it, so nothing recorded can fail a page or vanish from it.
"""

import base64
import binascii
import hashlib
from typing import Annotated, Any
from urllib.parse import quote

import orjson
import strawberry

from toolfold import readable, stored_json
from toolfold.schema.scalars import BigInt, JSONValue
from toolfold.transcript import Json


@strawberry.type(description="Text, as the agent's model saw it.")
class TextBlock:
    """ACP `content` with a text, or a bare text."""

    text: str


@strawberry.type(description="A change of a file; `oldText` is null where the file was new.")
class DiffBlock:
    """ACP `diff`."""

    path: str
    old_text: str | None
    new_text: str


@strawberry.type(description="A command and what it printed, ANSI sequences included.")
class TerminalBlock:
    """ACP `terminal`, with what was recorded of the terminal."""

    terminal_id: str | None
    command: str | None
    exit_code: int | None
    output: str | None


@strawberry.type(description="An image; its bytes are at `url`.")
class ImageBlock:
    """ACP `image`."""

    mime_type: str | None
    size: BigInt | None
    url: str | None
    source_uri: str | None


@strawberry.type(description="A sound; its bytes are at `url`.")
class AudioBlock:
    """ACP `audio`."""

    mime_type: str | None
    size: BigInt | None
    url: str | None


@strawberry.type(description="A reference to a resource that was not embedded.")
class ResourceLinkBlock:
    """ACP `resource_link`."""

    uri: str
    name: str
    mime_type: str | None
    size: BigInt | None
    title: str | None
    description: str | None


@strawberry.type(description="A resource with its content: text, or bytes at `url`.")
class EmbeddedResourceBlock:
    """ACP `resource`."""

    uri: str
    mime_type: str | None
    size: BigInt | None
    embedded_text: str | None
    url: str | None


@strawberry.type(description="A block that this server does not know; nothing is lost.")
class UnknownBlock:
    """Anything else, and known blocks of a shape that their type does not allow."""

    type: str
    raw: JSONValue | None


ToolContentBlock = Annotated[
    TextBlock
    | DiffBlock
    | TerminalBlock
    | ImageBlock
    | AudioBlock
    | ResourceLinkBlock
    | EmbeddedResourceBlock
    | UnknownBlock,
    strawberry.union(
        "ToolContentBlock",
        description=(
            "Same-named fields have the same type in every member, so that one selection can "
            "spread them all."
        ),
    ),
]


def parse_blocks(data: bytes, *, project_id: str, max_lines: int | None = None) -> list[Any] | None:
    """Return the blocks of a stored content; one block if it is not an array.

    None if its text has more than `max_lines` lines.
    """
    content = stored_json.decode(data)
    if max_lines is not None and len(readable.lines(content)) > max_lines:
        return None
    items = content if isinstance(content, list) else [content]
    return [parse_block(item, project_id) for item in items]


def parse_block(block: Json, project_id: str) -> Any:
    """Return one block of a content array; an UnknownBlock for what fits no other."""
    if isinstance(block, str):
        return TextBlock(text=block)
    if not isinstance(block, dict):
        return _unknown(_json_type(block), block)
    known = _known(readable.unwrapped(block), project_id)
    if known is None:
        kind = block.get("type")
        known = _unknown(kind if isinstance(kind, str) else "object", block)
    return known


def _unknown(kind: str, value: Json) -> UnknownBlock:
    # Written as it is stored: integers of any length, and nesting that a response could not take.
    raw = None if value is None else orjson.Fragment(stored_json.encode(value))
    return UnknownBlock(type=kind, raw=JSONValue(raw) if raw else None)


def _known(block: dict[str, Json], project_id: str) -> Any:  # noqa: PLR0911 - one return a type
    match block:
        case {"type": "text" | "content", "text": str(text)}:
            return TextBlock(text=text)
        case {"type": "diff", "path": str(path), "newText": str(new_text)}:
            return _diff(block, path, new_text)
        case {"type": "terminal"}:
            return TerminalBlock(
                terminal_id=_text(block, "terminalId"),
                command=_text(block, "command"),
                exit_code=_integer(block, "exitCode", 31),
                output=_text(block, "output"),
            )
        case {"type": "image"}:
            return _image(block, project_id)
        case {"type": "audio"}:
            size, url = _media(block.get("data"), project_id)
            return AudioBlock(mime_type=_text(block, "mimeType"), size=size, url=url)
        case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
            return _resource_link(block, uri, name)
        case {"type": "resource", "resource": {"uri": str(uri)}}:
            return _resource(block["resource"], uri, project_id)
    return None


def _diff(block: dict[str, Json], path: str, new_text: str) -> DiffBlock | None:
    old_text = block.get("oldText")
    if old_text is not None and not isinstance(old_text, str):
        return None
    return DiffBlock(path=path, old_text=old_text, new_text=new_text)


def _image(block: dict[str, Json], project_id: str) -> ImageBlock:
    size, url = _media(block.get("data"), project_id)
    return ImageBlock(
        mime_type=_text(block, "mimeType"), size=size, url=url, source_uri=_text(block, "uri")
    )


def _resource_link(block: dict[str, Json], uri: str, name: str) -> ResourceLinkBlock:
    size = _integer(block, "size", 53)
    return ResourceLinkBlock(
        uri=uri,
        name=name,
        mime_type=_text(block, "mimeType"),
        size=None if size is None else BigInt(size),
        title=_text(block, "title"),
        description=_text(block, "description"),
    )


def _resource(resource: dict[str, Json], uri: str, project_id: str) -> EmbeddedResourceBlock:
    text = _text(resource, "text")
    size, url = _media(resource.get("blob"), project_id)
    if text is not None:
        size = BigInt(len(text.encode()))
    return EmbeddedResourceBlock(
        uri=uri, mime_type=_text(resource, "mimeType"), size=size, embedded_text=text, url=url
    )


def _media(data: Json, project_id: str) -> tuple[BigInt | None, str | None]:
    """Return the size and the URL of the bytes that `data` is the base64 of; nulls if it is not."""
    if not isinstance(data, str) or not data:
        return None, None
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None, None
    return BigInt(len(decoded)), blob_url(project_id, hashlib.sha256(decoded).digest())


def blob_url(project_id: str, digest: bytes) -> str:
    """Return the route that serves the bytes whose SHA-256 is `digest`."""
    return f"/api/projects/{quote(project_id, safe='')}/blobs/{hash_text(digest)}"


def hash_text(digest: bytes) -> str:
    """Return a SHA-256 as it is served: `sha256:<hex>`."""
    return f"sha256:{digest.hex()}"


def _text(block: dict[str, Json], key: str) -> str | None:
    value = block.get(key)
    return value if isinstance(value, str) else None


def _integer(block: dict[str, Json], key: str, bits: int) -> int | None:
    value = block.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**bits:
        return value
    return None


def _json_type(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "array" if isinstance(value, list) else "number"
