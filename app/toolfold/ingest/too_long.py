"""Which text of a client's message or update is too long to be listed."""

from toolfold.errors import InvalidInputError
from toolfold.ingest import columns
from toolfold.ingest.light_texts import (
    MAX_LOCATION_CHARACTERS,
    MAX_LOCATIONS,
    MAX_NAME_CHARACTERS,
    MAX_PATH_CHARACTERS,
    MAX_TITLE_CHARACTERS,
)
from toolfold.ingest.preparation import Preparation, mend
from toolfold.transcript import UNSET, Message, ToolCallUpdate, ToolLocation, Value

_NAME = f"It is longer than {MAX_NAME_CHARACTERS} characters."
_TITLE = (
    f"It is longer than {MAX_TITLE_CHARACTERS} characters, and the input does not hold it whole."
)
_PATH = f"It is longer than {MAX_PATH_CHARACTERS:,} characters."
_LOCATIONS = (
    f"They are more than {MAX_LOCATIONS:,}, or their paths together longer than"
    f" {MAX_LOCATION_CHARACTERS:,} characters."
)


def refusal(value: Value, *path: str | int) -> InvalidInputError:
    """Return the error for the first text of a message or an update that a row cannot hold.

    `path` is that of the value, and the error's leads on to the text.
    """
    preparation = Preparation()
    places: tuple[ToolLocation, ...] = ()
    in_call = path
    if isinstance(value, Message):
        columns.of_message(value, preparation)
        places = value.tool_call.locations if value.tool_call else ()
        in_call = (*path, "toolMetadata")
    elif isinstance(value, ToolCallUpdate):
        columns.of_update(value, preparation)
        places = () if value.locations is UNSET else value.locations or ()
    name, text = next(preparation.cut(), ("", ""))
    match name:
        case "origin" | "model":
            return InvalidInputError(_NAME, *path, name)
        case "tool name":
            return InvalidInputError(_NAME, *in_call, "name")
        case "tool title":
            return InvalidInputError(_TITLE, *in_call, "title")
        case "path":
            place = next(n for n, one in enumerate(places) if mend(one.path) == text)
            return InvalidInputError(_PATH, *in_call, "locations", place, "path")
    return InvalidInputError(_LOCATIONS, *in_call, "locations")
