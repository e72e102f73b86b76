"""Edits as ACP diff blocks: the changed places alone, never the whole file a second time."""

from collections.abc import Iterator
from typing import Any

from toolfold.importers.claude_code.records import Fields, text
from toolfold.importers.claude_code.tool_calls import OpenCall
from toolfold.transcript import Json, ToolLocation

_OLD_LINE = (" ", "-")
_NEW_LINE = (" ", "+")


def diff_blocks(call: OpenCall, result: Json) -> list[Fields]:
    """Return the diffs of an edit that went well, one for each changed place.

    They come from the patch in `toolUseResult`, with its lines of context; without one from the
    old and the new text. A file that was created is one diff without old text.
    """
    edit = result if isinstance(result, dict) else {}
    path = text(edit, "filePath") or call.argument("file_path")
    if path is None or call.name not in {"Edit", "MultiEdit", "Write"}:
        return []
    if call.name == "Write" and _is_new_file(edit):
        content = text(edit, "content") or call.argument("content") or ""
        return [_diff(path, None, content)]
    changes = [(_lines(hunk, _OLD_LINE), _lines(hunk, _NEW_LINE)) for hunk in _hunks(edit)]
    return [_diff(path, old, new) for old, new in changes or _replacements(call)]


def locations(call: OpenCall, result: Json) -> tuple[ToolLocation, ...]:
    """Return where each changed place begins in the new file; nothing if no patch tells."""
    edit = result if isinstance(result, dict) else {}
    path = text(edit, "filePath") or call.argument("file_path")
    starts = [hunk.get("newStart") for hunk in _hunks(edit)]
    if path is None:
        return ()
    return tuple(ToolLocation(path, line) for line in starts if type(line) is int and line > 0)


def _diff(path: str, old: str | None, new: str) -> Fields:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def _is_new_file(edit: Fields) -> bool:
    return edit.get("type") == "create" or ("originalFile" in edit and edit["originalFile"] is None)


def _hunks(edit: Fields) -> list[dict[str, Any]]:
    hunks = edit.get("structuredPatch")
    if not isinstance(hunks, list):
        return []
    return [
        hunk for hunk in hunks if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list)
    ]


def _lines(hunk: Fields, marks: tuple[str, ...]) -> str:
    return "\n".join(
        line[1:] for line in hunk["lines"] if isinstance(line, str) and line.startswith(marks)
    )


def _replacements(call: OpenCall) -> Iterator[tuple[str, str]]:
    """Yield the old and the new text of each replacement that the call asked for."""
    edits = call.input.get("edits") if isinstance(call.input, dict) else None
    for edit in edits if isinstance(edits, list) else [call.input]:
        if isinstance(edit, dict) and isinstance(edit.get("old_string"), str):
            yield edit["old_string"], text(edit, "new_string") or ""
