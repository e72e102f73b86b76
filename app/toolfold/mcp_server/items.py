"""One message as an answer shows it: text and structured, all of it or as much as fits."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolfold.mcp_server.budget import cost, fitting
from toolfold.mcp_server.calls import Call
from toolfold.mcp_server.files import File, files_of, how_seen, locations_of
from toolfold.mcp_server.safe_text import Fence, one_line, shortened, shown
from toolfold.mcp_server.slices import Slice, Value, content_mark

_LABELS = {"text": "text", "input": "input", "output": "output", "raw_output": "raw output"}
_STATES = {
    "CUT_BY_AGENT": "cut by the agent itself: the rest was never recorded",
    "MISSING": "missing: the agent kept it in a file that is gone",
}
_ATTEMPTS = 6
_SHARE_OF_INPUT = 4
"""An input takes no more than this part of what a message may, if there is an output."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a message's light fields is shown: numbers of things, and bytes of each text."""

    locations: int
    files: int
    text_bytes: int


_USUAL = Limits(locations=10, files=10, text_bytes=500)
_BRIEF = Limits(locations=1, files=1, text_bytes=80)
"""Where the light fields alone would not fit."""


@dataclass(frozen=True, slots=True)
class Item:
    """A message in both forms, and what it costs in an answer."""

    text: str
    structured: Value
    cost: int
    is_whole: bool
    rest: Call | None = None
    """What reads on in the first part that is not whole."""


@dataclass(frozen=True, slots=True)
class ItemMaker:
    """Makes the items of one answer, all of one session."""

    session_id: str
    fence: Fence
    max_bytes: int | None
    """What the caller gave, for the calls that read on."""
    limits: Limits = _USUAL
    has_files: bool = True
    """Whether attachments and images are named with a message; else they are listed beside it."""

    def item(self, message: Value, parts: Mapping[str, Slice]) -> Item:
        """Return a message with all that was read of its parts."""
        text = "\n".join(self._text(message, parts))
        structured = self._structured(message, parts)
        is_whole = not any(part.has_rest for part in parts.values())
        calls = [self.rest(message, name, part) for name, part in parts.items()]
        rest = next((call for call in calls if call), None)
        return Item(text, structured, cost(text, structured), is_whole, rest)

    def suited(self, message: Value, parts: Mapping[str, Slice], limit: int) -> "ItemMaker":
        """Return what makes this message's light fields take at most half of so much."""
        nothing = {name: part.beginning("") for name, part in parts.items()}
        if self.item(message, nothing).cost <= limit // 2:
            return self
        return replace(self, limits=_BRIEF)

    def cut(self, message: Value, parts: Mapping[str, Slice], limit: int) -> Item:
        """Return as much of a message as costs at most `limit`: at least its light fields."""
        maker, allowed = self.suited(message, parts, limit), limit
        item = maker.item(message, maker.beginnings(message, parts, allowed))
        for _ in range(_ATTEMPTS):
            if item.cost <= limit:
                break
            allowed -= item.cost - limit
            item = maker.item(message, maker.beginnings(message, parts, allowed))
        return item

    def beginnings(
        self, message: Value, parts: Mapping[str, Slice], limit: int
    ) -> dict[str, Slice]:
        """Return beginnings of the parts that together cost `limit`, the first ones first."""
        kept = {name: part.beginning("") for name, part in parts.items()}
        left = limit - self.item(message, kept).cost
        for name, part in parts.items():
            has_output = name == "input" and "output" in parts
            share = left // _SHARE_OF_INPUT if has_output else left
            if share > 0 and part.text:
                text = fitting(part.text, share, _cost_of_part)
                if _cost_of_part(text) > share:
                    continue
                kept[name] = part if text == part.text else part.beginning(text)
                left -= _cost_of_part(text)
        return kept

    def rest(self, message: Value, name: str, part: Slice) -> Call | None:
        """Return the call that reads what follows a slice."""
        return self.reading(message, name, part.end) if part.has_rest else None

    def reading(self, message: Value, name: str, offset: int) -> Call:
        """Return the call that reads a part from a place on."""
        place = {"session_id": self.session_id, "sequence": message["sequence"]}
        if name == "text":
            return Call.of("get_message", **place, offset=offset, max_bytes=self.max_bytes)
        part, content = (None, content_mark(message)) if name == "output" else (name, None)
        return Call.of(
            "get_tool_content",
            **place,
            part=part,
            offset=offset,
            content=content,
            max_bytes=self.max_bytes,
        )

    def files(self, message: Value, after: int, offset: int | None = None) -> Call:
        """Return the call that lists a message's files after one, or reads the next one's path."""
        return Call.of(
            "get_message",
            session_id=self.session_id,
            sequence=message["sequence"],
            after_file=after,
            offset=offset,
            max_bytes=self.max_bytes,
        )

    def _text(self, message: Value, parts: Mapping[str, Slice]) -> list[str]:
        tool = message["toolMetadata"]
        lines = [_heading(message, self.limits.text_bytes)]
        if tool:
            lines += self._call_lines(message)
        for name, part in parts.items():
            lines += self._part_lines(message, name, part)
        call = self._raw_output(message)
        if call is not None:
            size = tool["rawOutput"]["size"]
            lines.append(f"raw output, {size:,} bytes: {call}")
        return lines + self._file_lines(message) if self.has_files else lines

    def _file_lines(self, message: Value) -> list[str]:
        seen = self._seen(message)
        lines = [file.line(place) for file, place, _ in seen]
        more = len(files_of(message)) - len(lines)
        if not more:
            return lines
        on = self.files(message, len(locations_of(message)) + len(lines))
        return [*lines, f"and {more} files more: {on}"]

    def _seen(self, message: Value) -> list[tuple[File, str, Value]]:
        """Return the first files, and how each can be seen: in words, and structured."""
        files, before = files_of(message)[: self.limits.files], len(locations_of(message))
        reading = self.files(message, 0)
        return [(file, *how_seen(file, at, reading)) for at, file in enumerate(files, before + 1)]

    def _call_lines(self, message: Value) -> list[str]:
        tool = message["toolMetadata"]
        limit = self.limits.text_bytes
        status = tool["status"].lower().replace("_", " ")
        words = [tool["kind"].lower().replace("_", " "), status]
        name = one_line(tool["name"], limit) if tool["name"] else "(no name)"
        title = f", title {one_line(tool['title'], limit)}" if tool["title"] else ""
        lines = [f"tool {name} ({', '.join(words)}){title}"]
        if tool["contentState"] in _STATES:
            lines.append(f"The output is {_STATES[tool['contentState']]}.")
        elif not tool["contentSize"]:
            lines.append("No output was recorded.")
        lines += self._location_lines(message)
        if tool["childSession"]:
            lines.append(f"a sub-agent's session: {tool['childSession']['id']}")
        return lines

    def _location_lines(self, message: Value) -> list[str]:
        places = [place for place, _ in self._locations(message)]
        if not places:
            return []
        more = len(locations_of(message)) - len(places)
        on = self.files(message, len(places)) if more and self.has_files else None
        calling = "" if on is None else f": {on}"
        return [f"at {', '.join(places)}{f' and {more} more{calling}' if more else ''}"]

    def _locations(self, message: Value) -> list[tuple[str, Value]]:
        """Return the first locations of a call: in words, and structured."""
        reading, limit = self.files(message, 0), self.limits.text_bytes
        found = locations_of(message)[: self.limits.locations]
        return [how_seen(one, at, reading, limit) for at, one in enumerate(found, 1)]

    def _part_lines(self, message: Value, name: str, part: Slice) -> list[str]:
        rest = self.rest(message, name, part)
        label = _LABELS[name]
        if part.problem is not None:
            return [f"{label}, {part.total:,} bytes as stored, cannot be read. {part.problem}"]
        if not part.text and rest is not None:
            about = "" if part.is_counted else "about "
            return [f"{label}, {about}{part.total:,} bytes: {rest}"]
        if not (part.text or part.offset):
            return [f"{label}: nothing that could be read"]
        lines = [f"{label}, {part.span()}:", self.fence.around(part.text)]
        return lines if rest is None else [*lines, f"The rest: {rest}"]

    def _structured(self, message: Value, parts: Mapping[str, Slice]) -> Value:
        shown_parts = {
            name: self._structured_part(message, name, part) for name, part in parts.items()
        }
        found = {
            "sequence": message["sequence"],
            "role": message["role"].lower(),
            "origin": self._short(message["origin"]),
            "model": self._short(message["model"]),
            "created_at": message["createdAt"],
            "text": shown_parts.pop("text", None),
            "tool_call": self._structured_call(message, shown_parts),
        }
        if self.has_files:
            found |= self._structured_files(message)
        return _present(found)

    def _structured_files(self, message: Value) -> Value:
        locations, files = locations_of(message), files_of(message)
        found: dict[str, Any] = {}
        seen = self._seen(message)
        for file, _, value in seen:
            found.setdefault(file.kind, []).append(value)
        shown_count = self.limits.locations
        if len(locations) <= shown_count:
            shown_count = len(locations) + len(seen)
        following = self.files(message, shown_count).structured()
        has_more = shown_count < len(locations) + len(files)
        return {**found, "more_files": following if has_more else None}

    def _structured_part(self, message: Value, name: str, part: Slice) -> Value:
        rest = self.rest(message, name, part)
        return _present({**part.structured(), "next": rest and rest.structured()})

    def _structured_call(self, message: Value, parts: Value) -> Value | None:
        tool = message["toolMetadata"]
        if not tool:
            return None
        call = self._raw_output(message)
        if call is not None:
            total = tool["rawOutput"]["size"]
            parts["raw_output"] = {
                "offset": 0,
                "bytes": 0,
                "total_bytes": total,
                "text": "",
                "next": call.structured(),
            }
        child = tool["childSession"]
        return _present(
            {
                "tool_call_id": self._short(tool["toolCallId"]),
                "name": self._short(tool["name"]),
                "title": self._short(tool["title"]),
                "kind": tool["kind"].lower(),
                "status": tool["status"].lower(),
                "locations": [value for _, value in self._locations(message)] or None,
                "location_count": len(locations_of(message)) or None,
                "output_state": tool["contentState"].lower(),
                **parts,
                "child_session_id": child and child["id"],
            }
        )

    def _short(self, text: str | None) -> str | None:
        return None if text is None else shortened(text, self.limits.text_bytes)

    def _raw_output(self, message: Value) -> Call | None:
        """Return the call that reads a raw output which stands beside an output."""
        tool = message["toolMetadata"]
        if not (tool and tool["rawOutput"] and tool["contentSize"]):
            return None
        return self.reading(message, "raw_output", 0)


def _cost_of_part(text: str) -> int:
    """Return what a part's text costs in both forms, without quotes."""
    return cost(shown(text), text) - 4


def _heading(message: Value, limit: int) -> str:
    words = [f"## message {message['sequence']}", message["role"].lower()]
    if message["origin"]:
        words.append(f"put there by {one_line(message['origin'], limit)}")
    if message["model"]:
        words.append(one_line(message["model"], limit))
    return " · ".join([*words, message["createdAt"]])


def _present(values: Value) -> Value:
    """Return what is not None."""
    return {name: value for name, value in values.items() if value is not None}
