"""Tool calls: the message that a `tool_use` block becomes, in the Agent Client Protocol's terms."""

from dataclasses import dataclass
from datetime import datetime

from toolfold.importers.claude_code.records import Fields, SurprisingShapeError, text
from toolfold.transcript import Json, ToolCall, ToolKind, ToolLocation, ToolStatus

MAX_TITLE_CHARS = 200
"""A title is one line; what is cut from it stands in the raw input, or is the name."""

_KINDS = {
    "Read": ToolKind.READ,
    "NotebookRead": ToolKind.READ,
    "ListMcpResourcesTool": ToolKind.READ,
    "ReadMcpResourceTool": ToolKind.READ,
    "Edit": ToolKind.EDIT,
    "MultiEdit": ToolKind.EDIT,
    "Write": ToolKind.EDIT,
    "NotebookEdit": ToolKind.EDIT,
    "Bash": ToolKind.EXECUTE,
    "BashOutput": ToolKind.EXECUTE,
    "KillBash": ToolKind.EXECUTE,
    "KillShell": ToolKind.EXECUTE,
    "Monitor": ToolKind.EXECUTE,
    "PowerShell": ToolKind.EXECUTE,
    "TaskOutput": ToolKind.EXECUTE,
    "TaskStop": ToolKind.EXECUTE,
    "Glob": ToolKind.SEARCH,
    "Grep": ToolKind.SEARCH,
    "LS": ToolKind.SEARCH,
    "ToolSearch": ToolKind.SEARCH,
    "WebFetch": ToolKind.FETCH,
    "WebSearch": ToolKind.FETCH,
    "web_fetch": ToolKind.FETCH,
    "web_search": ToolKind.FETCH,
    "Agent": ToolKind.THINK,
    "Task": ToolKind.THINK,
    "TaskCreate": ToolKind.THINK,
    "TaskGet": ToolKind.THINK,
    "TaskList": ToolKind.THINK,
    "TaskUpdate": ToolKind.THINK,
    "TodoRead": ToolKind.THINK,
    "TodoWrite": ToolKind.THINK,
    "EnterPlanMode": ToolKind.SWITCH_MODE,
    "ExitPlanMode": ToolKind.SWITCH_MODE,
}
_TITLE_KEYS = (
    "subject",
    "description",
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "path",
    "skill",
)
SHELLS = frozenset({"Bash", "bash", "BashOutput", "PowerShell"})
"""The tools that run a command, or tell its output."""

_PATH_KEYS = ("file_path", "notebook_path", "path")


@dataclass(slots=True)
class OpenCall:
    """A call whose result has not been read yet; `child` is the session it is known to have begun.

    `turn` is the place in the session where it was made; see `Conversation.turn`.
    """

    name: str
    input: Json
    turn: int
    child: str | None = None

    def argument(self, key: str) -> str | None:
        """Return the text that the tool was given as `key`."""
        return text(self.input, key) if isinstance(self.input, dict) else None


def tool_call(block: Fields, started_at: datetime | None) -> ToolCall:
    """Return the call that a `tool_use` block makes: pending, as its result comes later.

    Raises:
        SurprisingShapeError: if it has no id or no name.
    """
    tool_call_id, name = text(block, "id"), text(block, "name")
    if tool_call_id is None or name is None:
        raise SurprisingShapeError("a tool call without id or name")
    raw_input = block.get("input")
    arguments = raw_input if isinstance(raw_input, dict) else {}
    return ToolCall(
        tool_call_id=tool_call_id,
        name=name,
        title=_title(name, arguments),
        kind=_KINDS.get(name, ToolKind.OTHER),
        status=ToolStatus.PENDING,
        locations=_locations(arguments),
        raw_input=raw_input,
        started_at=started_at,
    )


def _title(name: str, arguments: Fields) -> str:
    found = (_first_line(text(arguments, key) or "") for key in _TITLE_KEYS)
    title = next(filter(None, found), name)
    return title if len(title) <= MAX_TITLE_CHARS else f"{title[: MAX_TITLE_CHARS - 1]}…"


def _first_line(value: str) -> str:
    return next((line.strip() for line in value.split("\n") if line.strip()), "")


def _locations(arguments: Fields) -> tuple[ToolLocation, ...]:
    path = next((path for key in _PATH_KEYS if (path := text(arguments, key))), None)
    if path is None:
        return ()
    line = arguments.get("offset")
    is_line = type(line) is int and line > 0
    return (ToolLocation(path, line if is_line else None),)
