"""The names that generated code uses."""

from typing import Any


class Names:
    """Hands out names: of objects that the code was generated with, and of local variables."""

    def __init__(self, **bound: Any) -> None:
        self.bound = bound
        """What the code finds under each name."""
        self._count = 0

    def of(self, value: Any, kind: str) -> str:
        """Return a new name for an object; `kind` says what it is to whoever reads the code."""
        name = self.local(kind)
        self.bound[name] = value
        return name

    def local(self, kind: str) -> str:
        """Return a new name for a local variable."""
        self._count += 1
        return f"{kind}_{self._count}"
