"""Tool results: the update that a `tool_result` block makes of its call.

The content is the ACP array, in this order: what the model saw, unchanged; the diffs of an edit;
and of a shell command a terminal block `{"type": "terminal", "exitCode": n}`, when the exit code
is known. That block has no `output`, since the text before it is the output.

`toolUseResult`, which stands beside the block for the program's own use, repeats most of that.
What it says beyond it becomes the raw output.
"""

import re
from dataclasses import dataclass

from toolfold.importers.claude_code.blocks import content_block, shown_text
from toolfold.importers.claude_code.diffs import diff_blocks, locations
from toolfold.importers.claude_code.files import SessionFiles
from toolfold.importers.claude_code.raw_output import raw_output
from toolfold.importers.claude_code.records import Envelope, Fields, SurprisingShapeError, text
from toolfold.importers.claude_code.tool_calls import SHELLS, OpenCall
from toolfold.transcript import UNSET, ContentState, Json, ToolCallUpdate, ToolStatus

_PERSISTED = "<persisted-output>"
_PERSISTED_PATH = re.compile(r"saved to: ([^\n]+)")
_CLEARED = "[Old tool result content cleared]"
_SHORTENED = re.compile(r"\n\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.(?:\n|\Z)")
_EXIT_CODE = re.compile(r"Exit code (-?\d+)\b")


@dataclass(frozen=True, slots=True)
class _Content:
    """What a tool returned to the model: its blocks, and whether that is all there was."""

    blocks: list[Json]
    state: ContentState = ContentState.COMPLETE
    repaired: bool = False


def tool_result(
    block: Fields,
    call: OpenCall | None,
    tool_use_result: Json,
    place: Envelope,
    files: SessionFiles,
    *,
    repaired: bool,
) -> ToolCallUpdate:
    """Return the update that ends a call.

    `call` is None when the file does not hold the call that this is the result of.

    Raises:
        SurprisingShapeError: if the block does not say which call it is the result of.
    """
    tool_call_id = text(block, "tool_use_id")
    if tool_call_id is None:
        raise SurprisingShapeError("a tool result without the id of its call")
    failed = block.get("is_error") is True
    call = call or OpenCall(name="", input=None, turn=0)
    shown = _content(block.get("content"), call, tool_use_result, files)
    diffs = [] if failed else diff_blocks(call, tool_use_result)
    exit_state = _exit_state(call, shown_text(shown.blocks), tool_use_result, failed=failed)
    rest = raw_output(tool_use_result, shown.blocks, diffs, call)
    places = locations(call, tool_use_result) if diffs else ()
    return ToolCallUpdate(
        tool_call_id=tool_call_id,
        status=ToolStatus.FAILED if failed else ToolStatus.COMPLETED,
        content=[*shown.blocks, *diffs, *exit_state],
        content_state=shown.state,
        raw_output=UNSET if rest is None else rest,
        locations=places or UNSET,
        ended_at=place.time or UNSET,
        child_session=_child(call, tool_use_result, place) or UNSET,
        repaired=repaired or shown.repaired,
    )


def _content(content: Json, call: OpenCall, tool_use_result: Json, files: SessionFiles) -> _Content:
    items = content if isinstance(content, list) else [] if content in (None, "") else [content]
    blocks = [content_block(item) for item in items]
    seen = shown_text(blocks)
    if seen.startswith(_PERSISTED):
        return _persisted(blocks, files)
    is_cut = isinstance(tool_use_result, dict) and tool_use_result.get("truncated") is True
    if call.name in SHELLS and _SHORTENED.search(seen):
        is_cut = True
    if is_cut or seen == _CLEARED:
        return _Content(blocks, ContentState.CUT_BY_AGENT)
    return _Content(blocks)


def _persisted(blocks: list[Json], files: SessionFiles) -> _Content:
    """Return an output that the agent keeps in a file; the file's beginning if it is not here."""
    named = _PERSISTED_PATH.search(shown_text(blocks[:1]))
    data = files.tool_result(named[1].strip()) if named else None
    if data is None:
        return _Content(blocks, ContentState.CUT_BY_AGENT)
    output = data.decode("utf-8", "replace")
    repaired = "\ufffd" in output and output.encode() != data
    return _Content([content_block(output), *blocks[1:]], repaired=repaired)


def _exit_state(call: OpenCall, seen: str, tool_use_result: Json, *, failed: bool) -> list[Fields]:
    """Return a terminal block with the exit code, if the transcript proves one."""
    if call.name not in SHELLS:
        return []
    code: int | None = None
    if failed:
        stated = _EXIT_CODE.match(seen)
        code = int(stated[1]) if stated else None
    elif isinstance(tool_use_result, dict):
        code = _exit_code(tool_use_result)
    return [] if code is None else [{"type": "terminal", "exitCode": code}]


def _exit_code(result: Fields) -> int | None:
    if type(result.get("exitCode")) is int:
        return int(result["exitCode"])
    # An interpretation stands for a code other than 0 that is no failure, such as that of grep.
    unknown = ("interrupted", "backgroundTaskId", "returnCodeInterpretation")
    is_plain = "stdout" in result and not any(result.get(key) for key in unknown)
    return 0 if is_plain else None


def _child(call: OpenCall, tool_use_result: Json, place: Envelope) -> str | None:
    if call.child is not None:
        return call.child
    agent = text(tool_use_result, "agentId") if isinstance(tool_use_result, dict) else None
    return f"{place.session}/{agent}" if agent else None
