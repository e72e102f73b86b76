"""Which attributes of a class are items of a tuple, so that many can be read at once."""

import inspect
from collections import namedtuple
from typing import Any

_Example = namedtuple("_Example", "item")  # noqa: PYI024 - for what namedtuple makes of it.
_Item = type(inspect.getattr_static(_Example, "item"))


def columns_of(row_class: type) -> dict[str, int]:
    """Return the index of each attribute that a named tuple's items are; none of other classes."""
    if not issubclass(row_class, tuple) or row_class.__getitem__ is not tuple.__getitem__:
        return {}
    names: Any = getattr(row_class, "_fields", ())
    return {
        name: index
        for index, name in enumerate(names)
        if isinstance(inspect.getattr_static(row_class, name, None), _Item)
    }
