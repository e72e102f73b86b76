"""The images, sounds and other bytes that stand as base64 in a content's blocks.

Each has a URL in the API and is served from where it stands, which `content_image` says.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from toolfold import readable
from toolfold.transcript import Json

BINARY = "application/octet-stream"
"""The media type of bytes whose source does not say what they are."""

MARKS = (b'"data":"', b'"blob":"')
"""Stored JSON in which neither stands has no images."""


@dataclass(frozen=True, slots=True)
class Image:
    """Bytes that stand as base64 in a content: bytes [offset, offset + length) of it."""

    hash: bytes
    size: int
    media_type: str
    offset: int
    length: int


def find(value: Json, stored: bytes) -> Iterator[Image]:
    """Yield the images in the content `value`, whose stored JSON is `stored`.

    Only base64 without line breaks can be served from where it stands.
    """
    for block in value if isinstance(value, list) else [value]:
        match readable.unwrapped(block):
            case {"type": "image" | "audio", "data": str(text), **rest}:
                pass
            case {"type": "resource", "resource": {"blob": str(text), **rest}}:
                pass
            case _:
                continue
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            continue
        offset = stored.find(text.encode())
        if data and offset >= 0:
            mime_type = rest.get("mimeType")
            media_type = mime_type if isinstance(mime_type, str) else BINARY
            yield Image(hashlib.sha256(data).digest(), len(data), media_type, offset, len(text))
