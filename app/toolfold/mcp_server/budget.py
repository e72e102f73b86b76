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
        if not (_joins(text[at : at + 1]) or text[at - 1] == _JOINER):
            return at
    return end


def _joins(character: str) -> bool:
    return character != "" and (
        character == _JOINER
        or character in _SELECTORS
        or _SKIN_TONES[0] <= character <= _SKIN_TONES[1]
        or unicodedata.combining(character) > 0
    )
