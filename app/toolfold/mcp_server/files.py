"""The files of a message: its call's locations, its attachments, the images in its output.

They are numbered from 1 in this order. As many are listed as fit, and images are content where
they fit too; of one that does not, it is said how it can be seen.
"""

from dataclasses import dataclass, field

from mcp_types import ContentBlock, ImageContent

from toolfold.mcp_server.budget import cost
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.reading import Reader
from toolfold.mcp_server.safe_text import ending, is_path_longer, one_line, path_line, shortened
from toolfold.mcp_server.slices import Value
from toolfold.settings import MAX_MCP_ANSWER_BYTES

_SHOWABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_SORTS = ("image", "audio", "video")
_SHOWN = "shown below, image {}"
_AROUND = 100
"""Bytes of an image that is shown beside its base64."""

_SEPARATOR = 4
_BESIDE_BYTES = 20_000
"""What an answer that is to show an image has room for beside it."""

_NAME_BYTES = 80
_TYPE_BYTES = 60
_PATH_BYTES = 500


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file that a tool call names."""

    path: str
    line_number: int | None
    kind = "locations"

    def seen(self, limit: int, whole: Call) -> tuple[str, Value]:
        """Return it with so many bytes of its path, in words and structured.

        Of a longer path it is the end; `whole` is the call that reads all of it.
        """
        number = "" if self.line_number is None else f":{self.line_number}"
        words = f"{path_line(self.path, limit)}{number}"
        found: Value = {"path": ending(self.path, limit)}
        if self.line_number is not None:
            found["line"] = self.line_number
        if not is_path_longer(self.path, limit):
            return words, found
        size = len(self.path.encode())
        words += f" (the end of {size:,} bytes, all of them by {whole})"
        return words, {**found, "path_bytes": size, "whole_path": whole.structured()}

    def line(self, place: str) -> str:
        """Return it as a line of an answer, by what `seen` says of it."""
        return f"at {place}"


@dataclass(frozen=True, slots=True)
class File:
    """An attachment; or an image, a sound or other bytes in an output."""

    mime_type: str
    size: int
    url: str
    name: str | None = None
    is_attachment: bool = False

    @property
    def kind(self) -> str:
        """Among what it is listed."""
        return "attachments" if self.is_attachment else "images"

    @property
    def base64_length(self) -> int:
        """How many characters its base64 has, if it is an image that can be shown; else 0."""
        return -(-self.size // 3) * 4 if self.mime_type in _SHOWABLE else 0

    @property
    def at_the_server(self) -> str:
        """Where it is if it cannot be shown."""
        return f"`toolfold serve` has it at {self.url}"

    def line(self, place: str = "") -> str:
        """Return it as a line of an answer, with where it is."""
        place = place or self.at_the_server
        mime_type = one_line(self.mime_type, _TYPE_BYTES)
        if not self.is_attachment:
            sort = self.mime_type.partition("/")[0]
            sort = sort if sort in _SORTS else "file"
            return f"{sort} {mime_type}, {self.size:,} bytes: {place}"
        name = one_line(self.name, _NAME_BYTES)
        return f"attachment {name}, {mime_type}, {self.size:,} bytes: {place}"

    def structured(self) -> Value:
        """Return it as structured output."""
        found = {"mime_type": shortened(self.mime_type, _TYPE_BYTES)}
        if self.name is not None:
            found["name"] = shortened(self.name, _NAME_BYTES)
        return {**found, "bytes": self.size, "url": self.url}


@dataclass(slots=True)
class Files:
    """Those files of a message that an answer has room for, in both forms; images as content too.

    `last` is the number of the last one, `count` how many there are of all.
    """

    last: int
    count: int
    lines: list[str] = field(default_factory=list)
    lists: dict[str, list[Value]] = field(default_factory=dict)
    """In structured output, by kind."""
    content: list[ContentBlock] = field(default_factory=list)
    cost: int = 0

    @property
    def has_more(self) -> bool:
        """Whether there are files after the last one."""
        return self.last < self.count

    def add(self, file: File | Location, place: str, value: Value) -> None:
        """List the next one."""
        self.last += 1
        self.lines.append(file.line(place))
        self.lists.setdefault(file.kind, []).append(value)


@dataclass(frozen=True, slots=True)
class FileLister:
    """Lists the files of one message; `reading` is the call that lists them after a number."""

    reader: Reader
    message: Value
    reading: Call

    async def listed(self, limit: int, *, after: int = 0, at_least: int = 0) -> Files:
        """Return the files after a number, as many as cost at most `limit`.

        `at_least` so many are there, if there are so many, whatever they cost.
        """
        found = await self._found()
        files = Files(min(after, len(found)), len(found))
        chosen: list[tuple[File | Location, bool]] = []
        for number, file in enumerate(found[after:], after + 1):
            size, is_shown = self._cost(file, number, limit)
            if files.cost + size > limit and len(chosen) >= at_least:
                break
            files.cost += size
            chosen.append((file, is_shown))
        data = await self._data([file for file, is_shown in chosen if is_shown])
        for number, (file, _) in enumerate(chosen, after + 1):
            if isinstance(file, File) and file.url in data:
                place = _SHOWN.format(len(files.content) + 1)
                files.add(file, place, file.structured())
                image = ImageContent(type="image", data=data[file.url], mime_type=file.mime_type)
                files.content.append(image)
            else:
                files.add(file, *how_seen(file, number, self.reading))
        return files

    def _cost(self, file: File | Location, number: int, limit: int) -> tuple[int, bool]:
        """Return what a file costs, and whether as content: if it is an image and fits alone."""
        if isinstance(file, File) and file.base64_length:
            shown = cost(file.line(_SHOWN.format(number)), file.structured()) + _AROUND
            if shown + file.base64_length <= limit:
                return shown + file.base64_length, True
        place, value = how_seen(file, number, self.reading)
        return cost(file.line(place), value) + _SEPARATOR, False

    async def _data(self, files: list[File | Location]) -> dict[str, str]:
        """Return the base64 of those files that one operation has room for, by URL."""
        sizes = {file.url: file.size for file in files if isinstance(file, File)}
        if not sizes:
            return {}
        read = await self.reader.files(self.message["id"], max(1, *sizes.values()))
        return {
            url: read[url][1] for url, size in sizes.items() if url in read and read[url][0] == size
        }

    async def _found(self) -> list[File | Location]:
        message = {**self.message, "images": await self.reader.images(self.message)}
        return [*locations_of(message), *files_of(message)]


def locations_of(message: Value) -> list[Location]:
    """Return the locations of a message's tool call, in its order."""
    tool = message["toolMetadata"] or {}
    return [Location(one["path"], one["line"]) for one in tool.get("locations", [])]


def files_of(message: Value) -> list[File]:
    """Return the attachments of a message, and the images in its output, each in its order."""
    attached = [
        File(file["mimeType"], file["size"], file["url"], file["name"], is_attachment=True)
        for file in message["attachments"]
    ]
    images = message.get("images") or []
    return attached + [File(one["mimeType"], one["size"], one["url"]) for one in images]


def how_seen(
    file: File | Location, number: int, reading: Call, path_bytes: int = _PATH_BYTES
) -> tuple[str, Value]:
    """Return how a file that is not shown can be seen, in words, and its structured output.

    `reading` is a call that lists the files of its message after a number. A path is there with
    so many bytes.
    """
    arguments = {**reading.arguments, "after_file": number - 1}
    if isinstance(file, Location):
        return file.seen(path_bytes, Call(reading.tool, {**arguments, "offset": 0}))
    max_bytes = -(-(file.base64_length + _BESIDE_BYTES) // 1_000) * 1_000
    if not file.base64_length or max_bytes > MAX_MCP_ANSWER_BYTES:
        return file.at_the_server, file.structured()
    call = Call(reading.tool, {**arguments, "max_bytes": max_bytes})
    return f"shown by {call}", {**file.structured(), "shown_by": call.structured()}
