"""Content blocks of the Messages API as those of the Agent Client Protocol."""

import base64
import binascii

from toolfold.importers.claude_code.records import (
    Fields,
    SurprisingShapeError,
    block_type,
    text,
)
from toolfold.transcript import Attachment, Json

_MEDIA = frozenset({"image", "document"})


def content_block(item: Json) -> Json:
    """Return the ACP content block of one item of a tool's result.

    Text stays exactly as the model saw it. An item of another kind is kept as it is, to be
    shown as an unknown block.
    """
    if isinstance(item, str):
        return _content({"type": "text", "text": item})
    if not isinstance(item, dict):
        return item
    if item.get("type") == "text" and isinstance(item.get("text"), str):
        return _content({"type": "text", "text": item["text"]})
    source = item.get("source")
    if not is_media(item) or not isinstance(source, dict):
        return item
    return _media(item, source)


def shown_text(blocks: list[Json]) -> str:
    """Return the text of the text blocks, joined by line breaks."""
    contents = [block["content"] for block in blocks if block_type(block) == "content"]
    texts = [text(content, "text") for content in contents if block_type(content) == "text"]
    return "\n".join(filter(None, texts))


def is_media(block: Json) -> bool:
    """Say whether a block of a user's message is a picture or a document."""
    return block_type(block) in _MEDIA


def attachment(block: Fields) -> Attachment:
    """Return the file that a user put into a message.

    Raises:
        SurprisingShapeError: if the block does not hold the file itself.
    """
    source = block.get("source")
    data = text(source, "data") if isinstance(source, dict) else None
    if not isinstance(source, dict) or data is None:
        raise SurprisingShapeError("a file without its bytes")
    mime_type = text(source, "media_type") or "application/octet-stream"
    name = text(block, "title")
    if source.get("type") == "text":
        return Attachment(data.encode(), mime_type, name)
    return decoded(data, mime_type, name)


def decoded(data: str, mime_type: str, name: str | None = None) -> Attachment:
    """Return a file from its base64.

    Raises:
        SurprisingShapeError: if it is not base64.
    """
    try:
        return Attachment(base64.b64decode(data, validate=True), mime_type, name)
    except binascii.Error as error:
        raise SurprisingShapeError("a file that is not base64") from error


def _content(block: Fields) -> Fields:
    return {"type": "content", "content": block}


def _media(item: Fields, source: Fields) -> Json:
    mime_type, data = text(source, "media_type"), text(source, "data")
    if source.get("type") == "base64" and data is not None and mime_type is not None:
        if item["type"] == "image":
            return _content({"type": "image", "mimeType": mime_type, "data": data})
        resource = {"uri": text(item, "title") or "document", "mimeType": mime_type, "blob": data}
        return _content({"type": "resource", "resource": resource})
    if source.get("type") == "url" and item["type"] == "image" and text(source, "url"):
        return _content({"type": "image", "uri": source["url"]})
    return item
