"""The files of a message: its attachments, then the images in its tool's output.

They are numbered from 1. As many are listed as fit, and images are content where they fit too.
"""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

from mcp_types import ContentBlock, ImageContent

from toolfold import readable
from toolfold.mcp_server import queries
from toolfold.mcp_server.budget import cost
from toolfold.mcp_server.reading import Reader, Value
from toolfold.mcp_server.safe_text import one_line, shortened

_MAX_READ_BYTES = 4 * 1024 * 1024
"""Outputs over this are not looked through for images."""

_SHOWABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_AROUND = 100
_MAX_NAME_CHARACTERS = 80
_MAX_TYPE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class File:
    """An attachment, or an image in an output with its base64."""

    mime_type: str
    size: int
    url: str
    name: str | None = None
    is_attachment: bool = False
    data: str | None = None

    def line(self, place: str) -> str:
        """Return it as a line of an answer, with where it is."""
        mime_type = one_line(self.mime_type, _MAX_TYPE_CHARACTERS)
        if not self.is_attachment:
            return f"image {mime_type}, {self.size:,} bytes: {place}"
        name = one_line(self.name, _MAX_NAME_CHARACTERS)
        return f"attachment {name}, {mime_type}, {self.size:,} bytes: {place}"

    def structured(self) -> Value:
        """Return it as structured output."""
        found = {"mime_type": shortened(self.mime_type, _MAX_TYPE_CHARACTERS)}
        if self.name is not None:
            found["name"] = shortened(self.name, _MAX_NAME_CHARACTERS)
        return {**found, "bytes": self.size, "url": self.url}


@dataclass(slots=True)
class Files:
    """Those files of a message that an answer has room for, in both forms; images as content too.

    `last` is the number of the last one, `count` how many there are of all.
    """

    last: int
    count: int
    lines: list[str] = field(default_factory=list)
    attachments: list[Value] = field(default_factory=list)
    images: list[Value] = field(default_factory=list)
    content: list[ContentBlock] = field(default_factory=list)
    cost: int = 0

    @property
    def has_more(self) -> bool:
        """Whether there are files after the last one."""
        return self.last < self.count

    def structured(self) -> Value:
        """Return the lists that are not empty, by name."""
        lists = {"attachments": self.attachments, "images": self.images}
        return {name: found for name, found in lists.items() if found}


async def files_of(
    reader: Reader, message: Value, limit: int, *, after: int = 0, at_least: int = 0
) -> Files:
    """Return the files of a message after a number, as many as cost at most `limit`.

    `at_least` so many are there, if there are so many, whatever they cost.
    """
    found = [*attachments_of(message), *await _in_output(reader, message)]
    files = Files(min(after, len(found)), len(found))
    for file in found[after:]:
        size = _cost(file, limit)
        if files.cost + size > limit and len(files.lines) >= at_least:
            break
        data = await _data(reader, message, file) if size > _cost(file) else None
        place = f"shown below, image {len(files.content) + 1}" if data else file.url
        files.cost += size
        files.last += 1
        files.lines.append(file.line(place))
        (files.attachments if file.is_attachment else files.images).append(file.structured())
        if data:
            content = ImageContent(type="image", data=data, mime_type=file.mime_type)
            files.content.append(content)
    return files


def _cost(file: File, limit: int = 0) -> int:
    """Return what a file costs: as content if it is an image that costs at most `limit` so."""
    named = cost(file.line(file.url), file.structured())
    # Base64 has four characters for three bytes, and ends with four that may be filled up.
    length = file.size * 4 // 3 + 4 if file.is_attachment else len(file.data or "")
    shown = named + _AROUND + length
    return shown if file.mime_type in _SHOWABLE and length and shown <= limit else named


async def _data(reader: Reader, message: Value, file: File) -> str | None:
    """Return the base64 of a file, None if one operation has no room for it."""
    if not file.is_attachment:
        return file.data
    return await reader.attachment(message["id"], {"url": file.url, "size": file.size})


def attachments_of(message: Value) -> list[File]:
    """Return the attachments of a message, in its order."""
    return [
        File(file["mimeType"], file["size"], file["url"], file["name"], is_attachment=True)
        for file in message["attachments"]
    ]


async def _in_output(reader: Reader, message: Value) -> list[File]:
    tool = message["toolMetadata"]
    if not tool or not 0 < (tool["contentSize"] or 0) <= _MAX_READ_BYTES:
        return []
    shown = (await reader.of_message(queries.IMAGES, message["id"]))["toolMetadata"]
    blocks, content = shown["blocks"] or [], shown["content"]
    items = content if isinstance(content, list) else [content]
    return [
        File(block["mimeType"], block["size"], block["url"], data=_base64(item))
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
