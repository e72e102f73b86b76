"""The text and the files of one message, put together from ACP content blocks."""

import hashlib
from dataclasses import dataclass, field
from urllib.parse import unquote

from toolfold import stored_json
from toolfold.importers.acp import shape
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.transcript import Attachment, Json


@dataclass(slots=True)
class Prose:
    """What has come of a message so far.

    Text blocks are joined as they are, since an agent streams a word at a time. An image, a sound
    or an embedded resource becomes an attachment; a link, and the place of an embedded resource,
    a Markdown link in the text; a block that is not known, its JSON.
    """

    _pieces: list[str] = field(default_factory=list)
    _typed: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The message's text."""
        # It is asked for again after every piece.
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self._pieces and not self.attachments

    @property
    def digest(self) -> str:
        """Eight characters that stand for the text typed, whatever its white space.

        A user's text is the same when a session is loaded again, but how its blocks are cut and
        how its files are told is not.
        """
        typed = "".join("".join(self._typed).split())
        return hashlib.sha256(typed.encode()).hexdigest()[:8]

    def add(self, block: dict[str, Json]) -> None:
        """Append the block of a chunk."""
        match block:
            case {"type": "text", "text": str(text)}:
                self._append(text)
                self._typed.append(text)
            case {"type": "image" | "audio"} if attachment := _media(block):
                self.attachments.append(attachment)
            case {"type": "resource_link", "uri": str(uri)}:
                self._append_apart(_link(shape.text(block, "name") or _name(uri), uri))
            case {"type": "resource", "resource": {"uri": str(uri)}} if attachment := _embedded(
                uri, block["resource"]
            ):
                self._append_apart(_link(_name(uri), uri))
                self.attachments.append(attachment)
            case _:
                self._append_apart(stored_json.text(block))

    def add_block(self, block: Json) -> None:
        """Append one of several whole blocks, on a line of its own unless space is between."""
        match block:
            case {"type": "text", "text": str(text)}:
                self._append_apart(text)
                self._typed.append(text)
            case dict():
                self.add(block)
            case _:
                self._append_apart(stored_json.text(block))

    def _append(self, text: str) -> None:
        if text:
            self._pieces.append(text)

    def _append_apart(self, text: str) -> None:
        if self._pieces and not self._pieces[-1][-1].isspace() and not text[:1].isspace():
            self._append("\n")
        self._append(text)


def of_blocks(blocks: Json) -> Prose:
    """Return the prose of an array of content blocks; what is not a block is its JSON."""
    prose = Prose()
    for block in blocks if isinstance(blocks, list) else []:
        prose.add_block(block)
    return prose


def _link(name: str, uri: str) -> str:
    return f"[{name}]({uri})"


def _name(uri: str) -> str:
    return unquote(uri.rstrip("/").rpartition("/")[2]) or uri


def _media(block: dict[str, Json]) -> Attachment | None:
    data = _decoded(block.get("data"))
    if data is None:
        return None
    uri = shape.text(block, "uri")
    return Attachment(
        data=data,
        mime_type=shape.text(block, "mimeType") or "application/octet-stream",
        name=_name(uri) if uri else None,
    )


def _embedded(uri: str, resource: dict[str, Json]) -> Attachment | None:
    text = resource.get("text")
    if isinstance(text, str):
        return Attachment(
            text.encode(), shape.text(resource, "mimeType") or "text/plain", _name(uri)
        )
    data = _decoded(resource.get("blob"))
    if data is None:
        return None
    mime_type = shape.text(resource, "mimeType") or "application/octet-stream"
    return Attachment(data, mime_type, _name(uri))


def _decoded(data: Json) -> bytes | None:
    try:
        return shape.base64_bytes(data)
    except NotUnderstoodError:
        return None
