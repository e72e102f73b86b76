"""What is gathered while one value of a transcript becomes columns: mended text, heavy parts.

Pure work on values, done before a write transaction begins. What the databases cannot hold is
mended, and it is remembered that it was; bytes that will be contents are set aside.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from toolfold import stored_json
from toolfold.errors import InvalidJsonError
from toolfold.ingest import light_texts
from toolfold.ingest.growth import Growth, Hashed
from toolfold.store import images
from toolfold.store.chunks import compress
from toolfold.store.images import Image
from toolfold.store.recording.content import Content
from toolfold.transcript import Json

JSON = "application/json"
PLAIN_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes to be stored as a content, with the images that stand in them."""

    hash: bytes
    media_type: str
    data: bytes
    images: tuple[Image, ...] = ()
    hashed: Hashed | None = None
    """Set if the part is one that may grow."""

    @property
    def size(self) -> int:
        """How many bytes they are."""
        return len(self.data)

    def compressed(self, growth: Growth | None) -> Content:
        """Return the content, ready to be written; `growth` remembers parts that may grow."""
        base = None
        if growth is not None and self.hashed is not None:
            base = growth.store(self.hashed, self.data)
        frames = tuple(compress(self.data, base.size if base else 0))
        data = self.data if base else b""
        return Content(self.hash, self.size, self.media_type, frames, self.images, base, data)


@dataclass(slots=True)
class Preparation:
    """The parts of one value, and whether anything in it had to be mended.

    `of` names the message or call of the value, and its session, if parts of it may grow; then
    `growth` has what is known of them.
    `too_deep` are the JSON texts of parts that are nested too deep to be stored as JSON, and
    `too_long` what was cut from rows: what it is of, and all of it as it was.
    """

    growth: Growth | None = None
    of: tuple[str, str] = ("", "")
    repaired: bool = False
    parts: list[Part] = field(default_factory=list)
    too_deep: list[bytes] = field(default_factory=list)
    too_long: list[tuple[str, str]] = field(default_factory=list)

    def text(self, value: str) -> str:
        """Return `value` as a text column can hold it."""
        mended = mend(value)
        self.repaired |= mended is not value
        return mended

    def identifier(self, value: str) -> str:
        """Return an id that an agent gave as a row can hold it."""
        return light_texts.identifier(self.text(value))

    def optional_identifier(self, value: str | None) -> str | None:
        """Return an id that an agent gave as a row can hold it; None is none."""
        return None if value is None else self.identifier(value)

    def light_text(self, name: str, value: str, limit: int) -> str:
        """Return the text `name` as a row can hold it: at most `limit` characters."""
        mended = self.text(value)
        if len(mended) > limit:
            self.too_long.append((name, mended))
        return light_texts.shortened(mended, limit)

    def optional_light_text(self, name: str, value: str | None, limit: int) -> str | None:
        """Return the text `name` as a row can hold it; None is none."""
        return None if value is None else self.light_text(name, value, limit)

    def cut(self) -> Iterator[tuple[str, str]]:
        """Yield what was cut from rows and does not stand whole in a part, such as the input."""
        for name, value in self.too_long:
            written = stored_json.encode(value)[1:-1]
            if not any(written in part.data for part in self.parts):
                yield name, value

    def json_part(self, name: str, value: Json, *, has_blocks: bool = False) -> Part | None:
        """Set aside the stored JSON of the part `name`; None if it is none, or can't be stored.

        `has_blocks` says that it is a content array, in which images are looked for.
        """
        if value is None:
            return None
        value, was_mended, encoded = stored_json.encode_repaired(value)
        self.repaired |= was_mended
        try:
            data = stored_json.encode(value) if encoded is None else encoded
        except InvalidJsonError:
            self.too_deep.append(stored_json.text(value).encode())
            return None
        found = images.find(value, data) if has_blocks else ()
        storable = (replace(image, media_type=_media_type(image.media_type)) for image in found)
        return self._set_aside(name, data, JSON, tuple(storable))

    def text_part(self, name: str, data: bytes) -> Part:
        """Set aside the UTF-8 bytes of the part `name`."""
        return self._set_aside(name, data, PLAIN_TEXT)

    def file_part(self, data: bytes, media_type: str) -> Part:
        """Set aside the bytes of a file, which does not grow."""
        part = Part(hashlib.sha256(data).digest(), media_type, data)
        self.parts.append(part)
        return part

    def _set_aside(
        self, name: str, data: bytes, media_type: str, found: tuple[Image, ...] = ()
    ) -> Part:
        if self.growth is None:
            part = Part(hashlib.sha256(data).digest(), media_type, data, found)
        else:
            hashed = self.growth.hash((*self.of, name), data)
            part = Part(hashed.hash, media_type, data, found, hashed)
        self.parts.append(part)
        return part


def mend(value: str) -> str:
    """Return `value` with U+FFFD for what a text column cannot hold: NUL, and lone surrogates."""
    repaired = value if value.isascii() else stored_json.repaired_text(value)[0]
    return repaired.replace("\x00", "\ufffd") if "\x00" in repaired else repaired


def _media_type(value: str) -> str:
    return light_texts.shortened(mend(value), light_texts.MAX_NAME_CHARACTERS)


def timestamp(time: datetime) -> str:
    """Return a time as it is stored: RFC 3339, UTC, milliseconds; without a zone it is UTC."""
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    try:
        universal = aware if aware.tzinfo is UTC else aware.astimezone(UTC)
    except OverflowError:  # in the first or the last day that there is
        universal = aware.replace(tzinfo=UTC)
    return universal.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def optional_timestamp(time: datetime | None) -> str | None:
    """Return a time as it is stored; None is none."""
    return None if time is None else timestamp(time)
