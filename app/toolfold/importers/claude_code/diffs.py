"""Edits as ACP diff blocks: the changed places alone, never the whole file a second time."""

from collections.abc import Iterator
from typing import Any

from toolfold.importers.claude_code.records import Fields, text
from toolfold.importers.claude_code.tool_calls import OpenCall
from toolfold.transcript import Json, ToolLocation

EDITS = frozenset({"Edit", "MultiEdit", "Write"})
"""The tools whose results hold a patch."""

_OLD_LINE = (" ", "-")
_NEW_LINE = (" ", "+")


def diff_blocks(call: OpenCall, result: Json) -> list[Fields]:
    """Return the diffs of an edit that went well, one for each changed place.

    They come from the patch in `toolUseResult`, with its lines of context; without one from the
    old and the new text. A file that was created is one diff without old text, and the changed
    cell of a notebook one of its source.
    """
    edit = result if isinstance(result, dict) else {}
    if call.name == "NotebookEdit":
        return _of_cell(call, edit)
    path = text(edit, "filePath") or call.argument("file_path")
    if path is None or call.name not in EDITS:
        return []
    if call.name == "Write" and _is_new_file(edit):
        content = text(edit, "content") or call.argument("content") or ""
        return [_diff(path, None, content)]
    changes = [(_lines(hunk, _OLD_LINE), _lines(hunk, _NEW_LINE)) for hunk in _hunks(edit)]
    return [_diff(path, old, new) for old, new in changes or _replacements(call, edit)]


def locations(call: OpenCall, result: Json) -> tuple[ToolLocation, ...]:
    """Return where each changed place begins in the new file; nothing if no patch tells."""
    edit = result if isinstance(result, dict) else {}
    path = text(edit, "filePath") or call.argument("file_path")
    starts = [hunk.get("newStart") for hunk in _hunks(edit)]
    if path is None:
        return ()
    return tuple(ToolLocation(path, line) for line in starts if type(line) is int and line > 0)


def is_patch_read(result: Fields) -> bool:
    """Say whether every part of a result's patch is one that diffs are made of."""
    patch = result.get("structuredPatch")
    return isinstance(patch, list) and len(patch) == len(_hunks(result))


def _of_cell(call: OpenCall, edit: Fields) -> list[Fields]:
    path = text(edit, "notebook_path") or call.argument("notebook_path")
    old, new = edit.get("old_source"), edit.get("new_source", call.argument("new_source") or "")
    if path is None or not isinstance(old, str) or not isinstance(new, str) or old == new:
        return []
    return [_diff(path, old, new)]


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


def _replacements(call: OpenCall, edit: Fields) -> Iterator[tuple[str, str]]:
    """Yield the old and the new text of each replacement that the call asked for."""
    if call.name == "Write":
        yield from _overwritten(call, edit)
        return
    edits = call.input.get("edits") if isinstance(call.input, dict) else None
    for one in edits if isinstance(edits, list) else [call.input]:
        if isinstance(one, dict) and isinstance(one.get("old_string"), str):
            yield one["old_string"], text(one, "new_string") or ""


def _overwritten(call: OpenCall, edit: Fields) -> Iterator[tuple[str, str]]:
    old, new = edit.get("originalFile"), edit.get("content", call.argument("content") or "")
    if isinstance(old, str) and isinstance(new, str) and old != new:
        yield old, new
