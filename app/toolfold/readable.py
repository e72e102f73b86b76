"""The text that a person would read of a tool call's content: for previews, lines and search.

Any JSON value has one. A content array is read block by block with a line break between; blocks
with nothing to read (a terminal whose output was not recorded) are left out, and what is not
known is shown as compact JSON. Nothing here raises.
"""

import io
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from rich import filesize

from toolfold import stored_json
from toolfold.transcript import Json

PREVIEW_CHARACTERS = 280
"""The longest preview that is stored."""

_CONTEXT_LINES = 3
_MAX_COMPARED_LINES = 400
"""Where more lines than these differ, a diff shows all old ones, then all new ones: comparing
takes time that grows with the square of their number."""

_Block = dict[str, Json]
_Opcode = tuple[str, int, int, int, int]
"""What `SequenceMatcher.get_opcodes` yields: a tag, a range of old lines, a range of new ones."""


def text(content: Json) -> str:
    """Return all of the text of a decoded content; None, which is no content, has none."""
    return "\n".join(_texts(content, None))


def preview(content: Json) -> str:
    """Return the first 280 characters of `text(content)`, without making the rest."""
    found = ""
    for block in _texts(content, PREVIEW_CHARACTERS):
        found = f"{found}\n{block}" if found else block
        if len(found) >= PREVIEW_CHARACTERS:
            break
    return found[:PREVIEW_CHARACTERS]


def lines(content: Json) -> list[str]:
    r"""Return the text's lines without their `\n`; a last line is one with or without it."""
    found = text(content).split("\n")
    if not found[-1]:
        found.pop()
    return found


def unwrapped(block: Json) -> Json:
    """Return the ACP content block in a `{"type": "content", "content": ...}`; else the same."""
    while isinstance(block, dict) and block.get("type") == "content":
        inner = block.get("content")
        if not isinstance(inner, dict):
            break
        block = inner
    return block


def _texts(content: Json, characters: int | None) -> Iterator[str]:
    """Yield the text of each block that has one, at least its first `characters`."""
    if content is None:
        return
    for block in content if isinstance(content, list) else [content]:
        found = block_text(unwrapped(block), characters)
        if found:
            yield found[:characters]


def block_text(block: Json, characters: int | None = None) -> str:
    """Return the text of one unwrapped block, at least its first `characters`."""
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        kind = block.get("type")
        read = _READERS.get(kind) if isinstance(kind, str) else None
        found = read(block) if read else None
        if found is not None:
            return found
    return stored_json.text(block, characters)


def _read_text(block: _Block) -> str | None:
    found = block.get("text")
    return found if isinstance(found, str) else None


def _read_diff(block: _Block) -> str | None:
    match block:
        case {"path": str(path), "newText": str(new), "oldText": str(old)}:
            return _diff(path, old, new)
        case {"path": str(path), "newText": str(new)} if block.get("oldText") is None:
            return _diff(path, "", new)
    return None


def _read_terminal(block: _Block) -> str:
    output = block.get("output")
    return output if isinstance(output, str) else ""


def _read_media(block: _Block) -> str:
    return _media(block.get("mimeType"), block.get("data"), kind=block["type"])


def _read_resource(block: _Block) -> str | None:
    match block.get("resource"):
        case {"text": str(found)}:
            return found
        case {"blob": str(blob), **resource}:
            return _media(resource.get("mimeType"), blob, kind="resource")
    return None


def _read_link(block: _Block) -> str | None:
    uri, title = block.get("uri"), block.get("title") or block.get("name")
    if not isinstance(uri, str):
        return None
    return f"{uri} {title}" if isinstance(title, str) else uri


_READERS: dict[str, Callable[[_Block], str | None]] = {
    "text": _read_text,
    "content": _read_text,
    "diff": _read_diff,
    "terminal": _read_terminal,
    "image": _read_media,
    "audio": _read_media,
    "resource": _read_resource,
    "resource_link": _read_link,
}
"""How the text of each kind of block is read; None where it has not the shape of its kind."""


def _media(mime_type: Json, data: Json, *, kind: str) -> str:
    if not isinstance(data, str):
        return f"[{mime_type if isinstance(mime_type, str) else kind}]"
    padding = len(data) - len(data.rstrip("="))
    return media_label(mime_type, len(data), padding, kind=kind)


def media_label(mime_type: Json, characters: int, padding: int, *, kind: str) -> str:
    """Return what stands for a medium whose base64 has so many characters, `padding` of them `=`.

    `kind` is shown where its type is not known.
    """
    label = mime_type if isinstance(mime_type, str) else kind
    return f"[{label}, {filesize.decimal(max(0, characters * 3 // 4 - padding))}]"


def _diff(path: str, old: str, new: str) -> str:
    """Return the path, and below it the hunks of a unified diff."""
    old_lines, new_lines = _split(old), _split(new)
    hunks = [path]
    for group in _groups(old_lines, new_lines):
        hunks.append(_hunk_header(group))
        for tag, old_start, old_stop, new_start, new_stop in group:
            if tag == "equal":
                hunks += [f" {line}" for line in old_lines[old_start:old_stop]]
            else:
                hunks += [f"-{line}" for line in old_lines[old_start:old_stop]]
                hunks += [f"+{line}" for line in new_lines[new_start:new_stop]]
    return "\n".join(hunks)


def _split(source: str) -> list[str]:
    # Only \n ends a line: str.splitlines knows a dozen others that files have inside of lines.
    return [line.removesuffix("\n") for line in io.StringIO(source, newline="\n")]


def _groups(old: list[str], new: list[str]) -> Iterator[list[_Opcode]]:
    """Yield the changes with their context, those of one hunk together."""
    shorter = min(len(old), len(new))
    same = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = shorter - same
    same_at_end = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    start, old_stop, new_stop = same, len(old) - same_at_end, len(new) - same_at_end
    if start == old_stop == new_stop:
        return
    before, after = min(_CONTEXT_LINES, start), min(_CONTEXT_LINES, same_at_end)
    if old_stop + new_stop - 2 * start > _MAX_COMPARED_LINES:
        yield [
            ("equal", start - before, start, start - before, start),
            ("replace", start, old_stop, start, new_stop),
            ("equal", old_stop, old_stop + after, new_stop, new_stop + after),
        ]
        return
    offset = start - before
    matcher = SequenceMatcher(None, old[offset : old_stop + after], new[offset : new_stop + after])
    for group in matcher.get_grouped_opcodes(_CONTEXT_LINES):
        yield [(tag, a + offset, b + offset, c + offset, d + offset) for tag, a, b, c, d in group]


def _hunk_header(group: list[_Opcode]) -> str:
    first, last = group[0], group[-1]
    return f"@@ -{_line_range(first[1], last[2])} +{_line_range(first[3], last[4])} @@"


def _line_range(start: int, stop: int) -> str:
    """Return a range of lines as unified diffs write it: 1-based, its length unless that is 1."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
