"""Pieces of what was recorded: a part of a message, by its bytes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Slice:
    """Bytes [offset, offset + length) of a part, as text; `has_rest` if more follow.

    The part has `total` bytes; where its end was not reached, `total` may be those of the stored
    JSON that its text is in, and `is_counted` is false. Bytes that are no UTF-8 text are shown as
    U+FFFD each.
    """

    offset: int
    length: int
    total: int
    text: str
    has_rest: bool
    is_counted: bool = True
    problem: str | None = None
    """Why nothing of it can be read."""

    @property
    def end(self) -> int:
        """Where the rest begins."""
        return self.offset + self.length

    @classmethod
    def of(cls, shown: Mapping[str, Any], stored: int = 0) -> "Slice":
        """Return a `ContentSlice`; `stored` is what is known where it does not say the total."""
        offset, length, text = shown["offset"], shown["length"], shown["text"]
        if text is None:
            text = "\ufffd" * length
        has_rest = shown["nextOffset"] is not None
        total = shown.get("totalSize") if has_rest else offset + length
        if total is None:
            return cls(offset, length, stored, text, has_rest, is_counted=False)
        return cls(offset, length, total, text, has_rest)

    def beginning(self, text: str) -> "Slice":
        """Return the beginning of it that is this text."""
        has_rest = self.has_rest or len(text) < len(self.text)
        return replace(self, length=len(text.encode()), text=text, has_rest=has_rest)

    def followed_by(self, more: "Slice") -> "Slice":
        """Return it and the slice after it in one."""
        length, text = self.length + more.length, self.text + more.text
        return replace(more, offset=self.offset, length=length, text=text)

    def span(self) -> str:
        """Say in words which bytes it is."""
        if not (self.offset or self.has_rest):
            return f"{self.total:,} bytes"
        about = "" if self.is_counted else "about "
        return f"bytes {self.offset:,} to {self.end:,} of {about}{self.total:,}"

    def structured(self) -> Value:
        """Return what structured output says of it."""
        total = "total_bytes" if self.is_counted else "stored_bytes"
        found: Value = {
            "offset": self.offset,
            "bytes": self.length,
            total: self.total,
            "text": self.text,
        }
        return found if self.problem is None else {**found, "problem": self.problem}


@dataclass(frozen=True, slots=True)
class Body:
    """What was read of a message together with others: parts by name, images if they are known."""

    parts: Mapping[str, Slice] = field(default_factory=dict)
    images: list[Value] | None = None


def content_mark(message: Value) -> str | None:
    """Return what tells a call's output from the one that it had before, if it has one."""
    stored = (message["toolMetadata"] or {}).get("contentHash")
    return None if stored is None else stored.removeprefix("sha256:")[:8]


def stored_sizes(message: Value) -> dict[str, int]:
    """Return the stored bytes of each part that a message has.

    A raw output is one only where there is no other output: mostly it holds the same.
    """
    sizes = {"text": message["contentSize"]}
    tool = message["toolMetadata"]
    if tool:
        sizes["input"] = (tool["rawInput"] or {}).get("size", 0)
        sizes["output"] = tool["contentSize"] or 0
        if not tool["contentSize"]:
            sizes["raw_output"] = (tool["rawOutput"] or {}).get("size", 0)
    return {name: size for name, size in sizes.items() if size}
