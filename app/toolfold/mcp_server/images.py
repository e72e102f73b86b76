"""Images of a message, as image content where they fit."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from mcp_types import ContentBlock, ImageContent

from toolfold import readable
from toolfold.mcp_server import queries
from toolfold.mcp_server.budget import cost
from toolfold.mcp_server.reading import Reader, Value
from toolfold.mcp_server.safe_text import one_line

_MAX_READ_BYTES = 4 * 1024 * 1024
"""Outputs over this are not looked through for images."""

_MAX_IMAGES = 20
_SHOWABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_AROUND = 100


@dataclass(frozen=True, slots=True)
class Image:
    """An image, and its base64 if it was read."""

    mime_type: str
    size: int
    url: str
    data: str | None


@dataclass(frozen=True, slots=True)
class Images:
    """The images of a message in both forms; those that fit are content too."""

    lines: list[str]
    structured: list[Value]
    content: list[ContentBlock]
    cost: int


NO_IMAGES = Images([], [], [], 0)


async def images_of(reader: Reader, message: Value, limit: int) -> Images:
    """Return the images of a message; content is what of them costs at most `limit`, in order."""
    found = await _attached(reader, message, limit) + await _in_output(reader, message)
    lines: list[str] = []
    structured: list[Value] = []
    content: list[ContentBlock] = []
    used = 0
    for image in found[:_MAX_IMAGES]:
        data = image.data
        size = _AROUND + len(data or "")
        is_shown = data is not None and image.mime_type in _SHOWABLE and used + size <= limit
        if data is not None and is_shown:
            content.append(ImageContent(type="image", data=data, mime_type=image.mime_type))
            used += size
        place = f"shown below, image {len(content)}" if is_shown else image.url
        lines.append(f"image {one_line(image.mime_type, 60)}, {image.size:,} bytes: {place}")
        shown = {"mime_type": image.mime_type[:60], "bytes": image.size, "url": image.url}
        structured.append(shown)
    return Images(lines, structured, content, used + cost(lines, structured))


async def _attached(reader: Reader, message: Value, limit: int) -> list[Image]:
    images = [file for file in message["attachments"] if file["mimeType"] in _SHOWABLE]
    found: list[Image] = []
    for file in images[:_MAX_IMAGES]:
        # Base64 has four characters for three bytes.
        data = None
        if file["size"] * 4 // 3 < limit:
            data = await reader.attachment(message["id"], file)
        found.append(Image(file["mimeType"], file["size"], file["url"], data))
    return found


async def _in_output(reader: Reader, message: Value) -> list[Image]:
    tool = message["toolMetadata"]
    if not tool or not 0 < (tool["contentSize"] or 0) <= _MAX_READ_BYTES:
        return []
    data = await reader.data(queries.IMAGES, id=message["id"])
    shown = data["message"]["toolMetadata"]
    blocks, content = shown["blocks"] or [], shown["content"]
    items = content if isinstance(content, list) else [content]
    return [
        Image(block["mimeType"], block["size"], block["url"], _base64(item))
        for block, item in zip(blocks, items, strict=False)
        if block["__typename"] == "ImageBlock" and block["mimeType"] and block["url"]
    ]


def _base64(item: Any) -> str | None:
    """Return the data of an image block, None where it is not base64."""
    block = readable.unwrapped(item)
    data = block.get("data") if isinstance(block, dict) else None
    try:
        base64.b64decode(data or "", validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None
    return data if isinstance(data, str) else None
