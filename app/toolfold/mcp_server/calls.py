"""The exact next call: what an answer that is not everything ends with."""

from dataclasses import dataclass
from typing import Any

import orjson

_GIVEN = ("find", "title_contains", "agent")
"""Arguments that a caller made up, of any length."""

_MOST_OF_ONE = 400
"""Bytes of such an argument that are written once more."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool and its arguments; those that are None are left out."""

    tool: str
    arguments: dict[str, Any]

    @classmethod
    def of(cls, tool: str, **arguments: Any) -> "Call":
        """Return the call with the arguments that are given."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return cls(tool, given)

    def __str__(self) -> str:
        """Return it as it is written: `get_message(session_id="…", sequence=3)`.

        What was given, and is so long that an answer might have room for nothing else, is not
        written once more, and it is said so.
        """
        written = (f"{name}={_written(name, value)}" for name, value in self.arguments.items())
        return f"{self.tool}({', '.join(written)})"

    def structured(self) -> dict[str, Any]:
        """Return it as structured output."""
        return {"tool": self.tool, "arguments": self.arguments}


def _written(name: str, value: Any) -> str:
    text = orjson.dumps(value).decode()
    return "(as you gave it)" if name in _GIVEN and len(text.encode()) > _MOST_OF_ONE else text
