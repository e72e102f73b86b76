"""What an answer costs in bytes, and how much of a text fits.

An answer is sent twice: as text that an agent reads, and structured. Both count, as JSON.
"""

import unicodedata
from collections.abc import Callable
from typing import Any

import orjson

AROUND = 400
"""Bytes of an answer beside its text and its structured output."""

_JOINER = "\u200d"
_SELECTORS = ("\ufe0e", "\ufe0f")
_SKIN_TONES = ("\U0001f3fb", "\U0001f3ff")
_FLAG_LETTERS = ("\U0001f1e6", "\U0001f1ff")
_MAX_CLUSTER = 16
_LEAST_OF_A_LINE = 0.7


def cost(*values: Any) -> int:
    """Return how many bytes these values take as JSON."""
    return sum(len(orjson.dumps(value)) for value in values)


def fitting(text: str, limit: int, cost_of: Callable[[str], int]) -> str:
    """Return the longest beginning of `text` that costs at most `limit`, at least a character.

    It ends after a line if most of it fits so, and never inside what is shown as one character.
    """
    if cost_of(text) <= limit:
        return text
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if cost_of(text[:middle]) <= limit:
            low = middle
        else:
            high = middle
    line_end = text.rfind("\n", 0, low) + 1
    end = line_end if line_end > low * _LEAST_OF_A_LINE else _whole_cluster(text, low)
    return text[: max(1, end)]


def _whole_cluster(text: str, end: int) -> int:
    """Return the last place up to `end` that parts no character from what it is shown with."""
    for at in range(end, max(0, end - _MAX_CLUSTER), -1):
        is_inside = _joins(text[at : at + 1]) or text[at - 1] == _JOINER
        if not (is_inside or text[at - 1 : at + 1] == "\r\n" or _parts_a_flag(text, at)):
            return at
    return end


def _parts_a_flag(text: str, at: int) -> bool:
    """Say whether a place is within two regional indicators, which are shown as one flag."""
    if not _is_flag_letter(text[at : at + 1]):
        return False
    before = 0
    while before < at and _is_flag_letter(text[at - 1 - before]):
        before += 1
    return before % 2 == 1


def _is_flag_letter(character: str) -> bool:
    return _FLAG_LETTERS[0] <= character <= _FLAG_LETTERS[1]


def _joins(character: str) -> bool:
    return character != "" and (
        character == _JOINER
        or character in _SELECTORS
        or _SKIN_TONES[0] <= character <= _SKIN_TONES[1]
        or unicodedata.combining(character) > 0
    )
