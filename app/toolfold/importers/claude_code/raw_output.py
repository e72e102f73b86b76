"""The raw output of a tool: what `toolUseResult` says beyond the content and the input.

It is several times the size of what the model saw, most of it the same text again, or a whole
file before an edit. What is left out here stands in the call's content, in its raw input, or is
the earlier state of a file whose change is shown. Tools that are not the program's own may use
the same keys for something else, so the keys count only for the tools that are known.
"""

from collections.abc import Iterator
from functools import cached_property

from toolfold import stored_json
from toolfold.importers.claude_code.blocks import content_block, shown_text
from toolfold.importers.claude_code.diffs import is_patch_read
from toolfold.importers.claude_code.records import Fields
from toolfold.importers.claude_code.tool_calls import SHELLS, OpenCall
from toolfold.readable import unwrapped
from toolfold.transcript import Json

_READERS = frozenset({"NotebookRead", "Read"})
_SHORT = 40
"""A text of at most so many characters is kept although it occurs in the content by chance."""


def raw_output(result: Json, shown: list[Json], diffs: list[Fields], call: OpenCall) -> Json:
    """Return what is left of `toolUseResult`; None if nothing is, or nothing that says a thing.

    `shown` are the blocks that the model saw, and `diffs` those that were made of an edit.
    """
    return _Remainder(shown, diffs, call).of(result)


def _left_out(result: Fields, diffs: list[Fields], call: OpenCall) -> frozenset[str]:
    """Return the keys whose values the tool shows in its content in another form."""
    if call.name in _READERS:
        return frozenset({"cells"})  # of a notebook
    if not diffs:
        return frozenset()
    if call.name == "NotebookEdit":
        return frozenset({"old_source"})
    originals = frozenset({"originalFile", "originalFileContents"})
    return originals | {"structuredPatch"} if is_patch_read(result) else originals


def _bytes_in(shown: list[Json]) -> Iterator[Json]:
    """Yield the base64 of the images and documents that the model saw."""
    for block in map(unwrapped, shown):
        match block:
            case {"data": data} | {"resource": {"blob": data}}:
                yield data


def _is_same(one: Json, other: Json) -> bool:
    try:
        return bool(one == other)
    except RecursionError:  # Python compares no deeper than it calls.
        return stored_json.text(one) == stored_json.text(other)


class _Remainder:
    def __init__(self, shown: list[Json], diffs: list[Fields], call: OpenCall) -> None:
        self._shown = shown
        self._diffs = diffs
        self._call = call
        self._text = shown_text(shown)
        self._bytes = list(_bytes_in(shown))
        arguments = call.input.values() if isinstance(call.input, dict) else ()
        self._arguments = [value for value in arguments if isinstance(value, str | list | dict)]

    @cached_property
    def _lines(self) -> frozenset[str]:
        return frozenset(self._text.split("\n"))

    def of(self, result: Json) -> Json:
        if isinstance(result, str) and result.startswith("Error: "):
            # A failure repeats the text, which may stand between tags there.
            message = result.removeprefix("Error: ").strip()
            return None if message in self._text else result
        if isinstance(result, dict):
            rest = dict(self._members(result))
            return rest if any(rest.values()) else None
        return None if self._is_shown(result) else result

    def _members(self, result: Fields) -> Iterator[tuple[str, Json]]:
        left_out = _left_out(result, self._diffs, self._call)
        is_image = self._call.name in SHELLS and result.get("isImage") is True
        for key, value in result.items():
            if key in left_out or (is_image and key == "stdout"):
                continue
            if self._call.name in _READERS and key == "file" and isinstance(value, dict):
                # The file's text stands in the content with its line numbers.
                rest = {name: item for name, item in value.items() if name != "content"}
                yield key, dict(self._members(rest))
            elif not self._is_shown(value) and value not in self._bytes:
                yield key, value

    def _is_shown(self, value: Json) -> bool:
        if any(_is_same(value, argument) for argument in self._arguments):
            return bool(value)
        if isinstance(value, str):
            own = value.strip()
            return bool(own) and (own == self._text.strip() or self._is_long_and_shown(own))
        return isinstance(value, list) and bool(value) and all(map(self._is_shown_item, value))

    def _is_long_and_shown(self, value: str) -> bool:
        return len(value) > _SHORT and value in self._text

    def _is_shown_item(self, item: Json) -> bool:
        if isinstance(item, str):
            return item in self._lines
        return isinstance(item, dict) and any(
            _is_same(content_block(item), block) for block in self._shown
        )
