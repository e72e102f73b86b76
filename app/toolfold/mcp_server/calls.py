"""The exact next call: what an answer that is not everything ends with."""

from dataclasses import dataclass
from typing import Any

import orjson


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
        """Return it as it is written: `get_message(session_id="…", sequence=3)`."""
        written = (
            f"{name}={orjson.dumps(value).decode()}" for name, value in self.arguments.items()
        )
        return f"{self.tool}({', '.join(written)})"

    def structured(self) -> dict[str, Any]:
        """Return it as structured output."""
        return {"tool": self.tool, "arguments": self.arguments}
