"""Tool calls: records patched into one state, and that state as transcript values."""

import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from toolfold.importers.acp import shape
from toolfold.importers.acp.terminals import Terminal
from toolfold.importers.acp.turn import Moment
from toolfold.transcript import (
    ContentState,
    Json,
    Message,
    MessageRole,
    ToolCall,
    ToolCallUpdate,
    ToolKind,
    ToolLocation,
    ToolStatus,
)

Patch = dict[str, Any]
"""Fields of a `ToolCall` by name; one that is absent keeps its value."""

_KINDS = {kind.value: kind for kind in ToolKind}
_STATUSES = {"cancelled": ToolStatus.FAILED, "paused": ToolStatus.IN_PROGRESS} | {
    status.value: status for status in ToolStatus
}
_HEAVY = ("content", "raw_input", "raw_output")
_SAY_OF_TERMINALS = {"raw_input", "raw_output"}
_ENDED = (ToolStatus.COMPLETED, ToolStatus.FAILED)

# Claude Code's stub for an output that it has put into a file, fenced by its adapter.
_PERSISTED_OUTPUT = re.compile(r"\s*(`{3,}[^\n]*\n)?<persisted-output>")


def read_patch(record: dict[str, Json]) -> Patch:
    """Return what a `tool_call`, a `tool_call_update` or a permission's `toolCall` says.

    Null clears title, locations, content and raw values; kind, status and name can't be null. A
    kind that is not known is OTHER; a status that is not known says nothing.
    """
    patch: Patch = {}
    name = shape.text(record, "name") or shape.text(
        shape.nested(record, "_meta", "claudeCode"), "toolName"
    )
    if name is not None:
        patch["name"] = name
    if "title" in record:
        patch["title"] = shape.text(record, "title")
    if (kind := shape.text(record, "kind")) is not None:
        patch["kind"] = _KINDS.get(kind, ToolKind.OTHER)
    if (status := _STATUSES.get(shape.text(record, "status") or "")) is not None:
        patch["status"] = status
    if "locations" in record:
        patch["locations"] = tuple(_locations(record["locations"]))
    for key, field_name in (
        ("content", "content"),
        ("rawInput", "raw_input"),
        ("rawOutput", "raw_output"),
    ):
        if key in record:
            patch[field_name] = record[key]
    return patch


def _locations(value: Json) -> list[ToolLocation]:
    return [
        ToolLocation(path, shape.integer(location, "line"))
        for location in shape.objects(value)
        if (path := shape.text(location, "path")) is not None
    ]


@dataclass(slots=True)
class OpenCall:
    """A tool call while its turn lasts.

    Until it ends all its fields are here. Then the heavy ones go as soon as they have been told,
    and a later patch is told as it comes.
    """

    id: str
    opened: Moment
    is_new: bool
    """Whether it is sure to begin here; a mere update may be of a call of an earlier turn."""
    _fields: Patch = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)
    _terminals: dict[str, Terminal] = field(default_factory=dict)
    _told_versions: dict[str, int] = field(default_factory=dict)
    _tool_response: Json = None
    _has_raw_output: bool = False
    _repaired: bool = False
    is_placed: bool = False
    """Whether its message has its place among the others."""
    has_ended: bool = False

    @property
    def client_id(self) -> str:
        """The client id of its message."""
        return f"tool:{self.id}"

    @property
    def attached(self) -> set[str]:
        """The ids of the terminals whose output is part of the content."""
        return set(self._terminals)

    @property
    def title(self) -> str | None:
        """Its title so far."""
        title: str | None = self._fields.get("title")
        return title

    def apply(self, patch: Patch, moment: Moment) -> None:
        """Take a patch's fields; a light one with the value that is there changes nothing."""
        self._repaired |= moment.repaired
        if self.has_ended and self._is_bare_terminals(patch.get("content")):
            patch.pop("content")
        for name, value in patch.items():
            if name in _HEAVY or name not in self._fields or self._fields[name] != value:
                self._fields[name] = value
                self._changed.add(name)
        self._has_raw_output |= patch.get("raw_output") is not None
        if patch.get("status") in _ENDED:
            self._end(moment)

    def append(self, block: Json, moment: Moment) -> None:
        """Add one block to the content (version 2's `tool_call_content_chunk`)."""
        content = self._fields.get("content")
        self.apply({"content": [*content, block] if isinstance(content, list) else [block]}, moment)

    def answer(self, tool_response: Json) -> None:
        """Take Claude Code's own record of the result, used where no raw output says more."""
        if tool_response is not None:
            self._tool_response = tool_response

    def attach(self, terminal: Terminal) -> None:
        """Let the terminal's output be part of the content."""
        self._terminals[terminal.id] = terminal

    def terminal_ids(self) -> list[str]:
        """Return the ids of the terminals in its content."""
        return [
            terminal_id
            for block in shape.objects(self._fields.get("content"))
            if block.get("type") == "terminal" and (terminal_id := shape.text(block, "terminalId"))
        ]

    def link(self, child_session: str) -> None:
        """Set the session of the sub-agent that it started."""
        self.apply({"child_session": child_session}, Moment())

    def abandon(self) -> None:
        """Fail it if its turn is over and it had begun in it: no result will come."""
        if self.has_ended or not (self.is_new or "status" in self._fields):
            return
        lacking: Patch = {"status": ToolStatus.FAILED}
        if not self._content():
            # An empty array that it began with is no result.
            lacking |= {"content": None, "content_state": ContentState.NONE_RECORDED}
        self._fields |= lacking
        self._changed |= lacking.keys()

    def message(self) -> Message:
        """Return the message that the call is, and count everything as told."""
        self._use_tool_response()
        values: Patch = {"status": ToolStatus.PENDING}
        values |= self._values(set(self._fields) | {"content"})
        if self.opened.time is not None:
            values["started_at"] = self.opened.time
        message = Message(
            client_id=self.client_id,
            role=MessageRole.TOOL,
            created_at=self.opened.time,
            tool_call=ToolCall(self.id, **values),
            repaired=self._repaired,
        )
        # If an earlier turn told this message, it is not told again: the fields given here must be.
        self._tell(set() if self.is_new else set(self._fields))
        return message

    def update(self) -> ToolCallUpdate | None:
        """Return what has changed since it was last told, and count it as told."""
        self._use_tool_response()
        if self._terminals and not self._changed.isdisjoint(_SAY_OF_TERMINALS):
            self._changed.add("content")
        if any(
            terminal.version != self._told_versions.get(terminal.id, 0)
            for terminal in self._terminals.values()
        ):
            self._changed.add("content")
        if not self._changed:
            return None
        update = ToolCallUpdate(self.id, **self._values(self._changed), repaired=self._repaired)
        self._tell(set())
        return update

    def _end(self, moment: Moment) -> None:
        self.has_ended = True
        if moment.time is not None:
            self._fields["ended_at"] = moment.time
            self._changed.add("ended_at")

    def _use_tool_response(self) -> None:
        """Let Claude Code's own record be the raw output if the one given is a stub or none."""
        if self._tool_response is None:
            return
        given = self._fields.get("raw_output")
        if given is not self._tool_response and (_is_cut(given) or not self._has_raw_output):
            self._fields["raw_output"] = self._tool_response
            self._changed.add("raw_output")

    def _values(self, names: set[str]) -> Patch:
        values = {name: self._fields[name] for name in names if name in self._fields}
        if "content" in names:
            values["content"] = self._content()
            if _is_cut(values["content"]) or any(t.is_cut for t in self._terminals.values()):
                values["content_state"] = ContentState.CUT_BY_AGENT
        return values

    def _content(self) -> Json:
        """Return the content with the terminals' output in it."""
        content = self._fields.get("content")
        terminals = {id_: known for id_, known in self._terminals.items() if known.version}
        if not terminals or not (content is None or isinstance(content, list)):
            return content
        blocks = [self._filled(block, terminals) for block in content or []]
        shown = self.terminal_ids()
        blocks += [
            self._filled({"type": "terminal", "terminalId": id_}, terminals)
            for id_ in terminals
            if id_ not in shown
        ]
        return blocks

    def _filled(self, block: Json, terminals: dict[str, Terminal]) -> Json:
        if not isinstance(block, dict) or block.get("type") != "terminal":
            return block
        terminal = terminals.get(shape.text(block, "terminalId") or "")
        if terminal is None:
            return block
        # Codex tells the command in the raw input, and the exit code of one that reads a file in
        # the raw output alone.
        found = {
            "command": _command(shape.nested(self._fields, "raw_input")),
            "exitCode": shape.integer(shape.nested(self._fields, "raw_output"), "exit_code"),
        }
        filled = terminal.block(block)
        return filled | {
            key: value for key, value in found.items() if value is not None and key not in filled
        }

    def _is_bare_terminals(self, content: Json) -> bool:
        """Say whether a late content is only that of terminals whose output has been told."""
        blocks = shape.objects(content)
        return bool(blocks) and all(
            block.get("type") == "terminal"
            and shape.text(block, "terminalId") in self._told_versions
            for block in blocks
        )

    def _tell(self, changed: set[str]) -> None:
        self._changed = changed
        self._told_versions |= {id_: known.version for id_, known in self._terminals.items()}
        if self.has_ended and not changed:
            self._terminals.clear()
            self._tool_response = None
            for name in _HEAVY:
                self._fields.pop(name, None)


def of_terminal(terminal: Terminal) -> Message:
    """Return a message for a terminal that no tool call of the agent's shows."""
    call = ToolCall(
        tool_call_id=f"terminal:{terminal.id}",
        title=terminal.command,
        kind=ToolKind.EXECUTE,
        status=ToolStatus.COMPLETED if not terminal.exit_code else ToolStatus.FAILED,
        content=[terminal.block({"type": "terminal", "terminalId": terminal.id})],
        content_state=ContentState.CUT_BY_AGENT if terminal.is_cut else None,
    )
    return Message(call.tool_call_id, MessageRole.TOOL, tool_call=call)


def _command(raw_input: dict[str, Json]) -> str | None:
    command = raw_input.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command if isinstance(command, str) else None


def _is_cut(content: Json) -> bool:
    """Say whether a text in the content is a stub that names the file of the whole output."""
    if isinstance(content, str):
        return _PERSISTED_OUTPUT.match(content) is not None
    return any(
        _is_cut(shape.text(block, "text") or shape.text(shape.nested(block, "content"), "text"))
        for block in shape.objects(content)
    )
