"""The lines in which a text was found, as many as fit; a long one is cut around what was found."""

from dataclasses import dataclass, replace

from toolfold.mcp_server.budget import cost, fitting
from toolfold.mcp_server.safe_text import shown
from toolfold.mcp_server.slices import Value
from toolfold.readable_stream.finding import MAX_SHOWN_CHARACTERS, folded

_SEPARATOR = 2


@dataclass(frozen=True, slots=True)
class _Match:
    """A `ContentMatch`, and characters [start, end) of it in which the text is."""

    match: Value
    start: int
    end: int

    @property
    def is_cut(self) -> bool:
        """Whether the line may be longer than what is there of it."""
        length = len(self.match["text"])
        return length >= MAX_SHOWN_CHARACTERS or self.start == MAX_SHOWN_CHARACTERS // 2

    def beginning(self, characters: int) -> "_Match":
        """Return so much of what was found."""
        return replace(self, end=self.start + characters)

    def with_around(self, characters: int) -> tuple[str, Value, int]:
        """Return it with so many characters on either side: text, structured, and their cost."""
        start, end = max(0, self.start - characters), self.end + characters
        text = self.match["text"][start:end]
        structured = {"line": self.match["line"], "text": text}
        mark = ""
        if self.is_cut or text != self.match["text"]:
            structured |= {"is_cut": True, "json_offset": self.match["offset"]}
            mark = f" (cut, at offset {self.match['offset']} of output_json)"
        line = f"{self.match['line']}{mark}: {text}"
        return line, structured, cost(shown(line), structured) + _SEPARATOR


def fitting_matches(found: list[Value], text: str, limit: int) -> tuple[list[str], list[Value]]:
    """Return as many matches of a text as cost at most `limit`, as lines and structured.

    The first one is always there: cut around the text, or in it, if it does not fit otherwise.
    """
    lines: list[str] = []
    matches: list[Value] = []
    left = limit
    for one in found:
        start = max(0, folded(one["text"]).find(folded(text)))
        match = _Match(one, start, start + len(text))
        line, structured, taken = match.with_around(MAX_SHOWN_CHARACTERS)
        if taken > left and not matches:
            line, structured, taken = _cut(match, left)
        if taken > left and matches:
            break
        left -= taken
        lines.append(line)
        matches.append(structured)
    return lines, matches


def _cut(match: _Match, limit: int) -> tuple[str, Value, int]:
    """Return a match with as much around as costs at most `limit`, or a beginning of it alone."""
    low, high = 0, MAX_SHOWN_CHARACTERS
    while high - low > 1:
        middle = (low + high) // 2
        if match.with_around(middle)[2] <= limit:
            low = middle
        else:
            high = middle
    if low > 0:
        return match.with_around(low)
    text = match.match["text"][match.start : match.end]
    begun = fitting(text, limit, lambda text: match.beginning(len(text)).with_around(0)[2])
    return match.beginning(len(begun)).with_around(0)
