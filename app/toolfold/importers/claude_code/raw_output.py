"""The raw output of a tool: what `toolUseResult` says beyond the content and the input.

It is several times the size of what the model saw, most of it the same text again, or a whole
file before an edit. What is left out here stands in the call's content, in its raw input, or is
the earlier state of a file.
"""

from collections.abc import Iterator
from typing import Any

from toolfold.importers.claude_code.blocks import content_block, shown_text
from toolfold.transcript import Json

_LEFT_OUT = frozenset(
    {
        "base64",  # the image or document that is in the content
        "cells",  # a notebook, shown as text
        "originalFile",
        "originalFileContents",
        "original_file",
        "structuredPatch",  # the diffs in the content, and the locations
        "updated_file",
    }
)
_SHORT = 40
"""A text of at most so many characters is kept although it occurs in the content by chance."""


def raw_output(result: Json, shown: list[Json], raw_input: Json) -> Json:
    """Return what is left of `toolUseResult`; None if nothing is, or nothing that says a thing."""
    return _Remainder(shown, raw_input).of(result)


class _Remainder:
    def __init__(self, shown: list[Json], raw_input: Json) -> None:
        self._shown = shown
        self._text = shown_text(shown)
        arguments = raw_input.values() if isinstance(raw_input, dict) else ()
        self._arguments = [value for value in arguments if isinstance(value, str | list | dict)]

    def of(self, result: Json) -> Json:
        if isinstance(result, str):
            # A failure repeats the text, which may stand between tags there.
            message = result.removeprefix("Error: ").strip()
            return None if message in self._text else result
        if isinstance(result, dict):
            rest = dict(self._members(result))
            return rest if any(rest.values()) else None
        return None if self._is_shown(result) else result

    def _members(self, result: dict[str, Any]) -> Iterator[tuple[str, Json]]:
        is_image = result.get("isImage") is True
        for key, value in result.items():
            if key in _LEFT_OUT or (is_image and key == "stdout"):
                continue
            if key == "file" and isinstance(value, dict):
                # The file's text stands in the content with its line numbers.
                rest = {name: item for name, item in value.items() if name != "content"}
                yield key, dict(self._members(rest))
            elif not self._is_shown(value):
                yield key, value

    def _is_shown(self, value: Json) -> bool:
        if isinstance(value, str) and value not in self._arguments:
            own = value.strip()
            return bool(own) and (own == self._text.strip() or self._is_long_and_shown(own))
        if isinstance(value, list) and value and value not in self._arguments:
            return all(map(self._is_shown_item, value))
        return bool(value) and value in self._arguments

    def _is_long_and_shown(self, value: str) -> bool:
        return len(value) > _SHORT and value in self._text

    def _is_shown_item(self, item: Json) -> bool:
        if isinstance(item, str):
            return item in self._text
        return isinstance(item, dict) and content_block(item) in self._shown
