"""The structured output of each tool; what is null is left out. Sizes are bytes."""

from typing import Annotated, Any

from pydantic import BaseModel, Field


class Answer(BaseModel):
    """What every answer has; `note` says how to take what was recorded."""

    note: str


class Next(BaseModel):
    """A call that reads on."""

    tool: str
    arguments: dict[str, Any]


class SessionLine(BaseModel):
    """A session in a list."""

    id: str
    local_id: Annotated[str, Field(description="Within its project, as `toolfold list` shows it.")]
    source_id: Annotated[str | None, Field(description="What its agent calls it.")] = None
    title: str | None = None
    agent: str
    status: str
    project: str
    created_at: str
    updated_at: str
    cwd: str | None = None
    message_count: int
    tool_call_count: int
    output_bytes: Annotated[int, Field(description="Of all tool outputs, as stored.")]
    parent_id: str | None = None


class SessionList(Answer):
    """A page of sessions."""

    sessions: list[SessionLine]
    total_count: int
    next: Next | None = None


class Turn(BaseModel):
    """A message of the user's, by its beginning."""

    sequence: int
    origin: str | None = None
    created_at: str
    bytes: int
    text: str


class Failure(BaseModel):
    """A tool call that failed."""

    sequence: int
    name: str | None = None
    title: str | None = None
    output: str | None = None


class TouchedFile(BaseModel):
    """A file that tool calls name."""

    path: str
    changes: int
    reads: int
    last_sequence: int


class Words(BaseModel):
    """A message, by its beginning."""

    sequence: int
    bytes: int
    text: str


class Outline(Answer):
    """A session in outline; files and failures are with its first turns."""

    session: SessionLine
    git_branch: str | None = None
    usage: dict[str, int] | None = None
    sub_agents: list[dict[str, str]] | None = None
    sub_agent_count: int | None = None
    all_sub_agents: Annotated[
        Next | None, Field(description="Lists all sub-agents, where not all are here.")
    ] = None
    turns: list[Turn]
    files: list[TouchedFile] | None = None
    failures: list[Failure] | None = None
    failure_count: int | None = None
    all_failures: Annotated[
        Next | None, Field(description="Reads all failed calls, where not all are here.")
    ] = None
    last_words: Annotated[
        Words | None, Field(description="What the agent said last, in all of the session.")
    ] = None
    next: Next | None = None


TotalBytes = Annotated[
    int | None, Field(description="Of all of it; of a large output only where its end is read.")
]
StoredBytes = Annotated[
    int | None, Field(description="Instead of total_bytes: of the stored JSON, about as many.")
]


class Part(BaseModel):
    """Bytes [offset, offset + bytes) of `total_bytes`, exactly as recorded."""

    offset: int
    bytes: int
    total_bytes: TotalBytes = None
    stored_bytes: StoredBytes = None
    text: str
    problem: Annotated[str | None, Field(description="Why it cannot be read.")] = None
    next: Annotated[Next | None, Field(description="Reads the rest.")] = None


class Location(BaseModel):
    """A place in a file."""

    path: Annotated[str, Field(description="Of a long one the end, after an ellipsis.")]
    line: int | None = None
    path_bytes: Annotated[int | None, Field(description="Of a path that is cut: of all.")] = None
    whole_path: Annotated[Next | None, Field(description="Reads all of a path that is cut.")] = None


class ToolCall(BaseModel):
    """A tool call; `output` is what a person would read, `raw_output` what else was returned."""

    tool_call_id: str
    name: str | None = None
    title: str | None = None
    kind: str
    status: str
    locations: list[Location] | None = None
    location_count: int | None = None
    output_state: str
    input: Part | None = None
    output: Part | None = None
    raw_output: Part | None = None
    child_session_id: str | None = None


class Attachment(BaseModel):
    """A file of a message."""

    name: str | None = None
    mime_type: str
    bytes: int
    url: Annotated[str, Field(description="A path of `toolfold serve`.")]
    shown_by: Annotated[
        Next | None, Field(description="Shows the image, which this answer has no room for.")
    ] = None


class MessageItem(BaseModel):
    """One message."""

    sequence: int
    role: str
    origin: str | None = None
    model: str | None = None
    created_at: str
    text: Part | None = None
    tool_call: ToolCall | None = None
    locations: Annotated[list[Location] | None, Field(description="More of the tool call's.")] = (
        None
    )
    path: Annotated[Part | None, Field(description="Of the location that was asked for.")] = None
    attachments: list[Attachment] | None = None
    images: Annotated[
        list[Attachment] | None,
        Field(description="Images, sounds and other bytes in the output, also those shown."),
    ] = None
    more_files: Annotated[
        Next | None, Field(description="Lists the locations, attachments and images that follow.")
    ] = None


class MessagePage(Answer):
    """Messages of a session, oldest first."""

    session_id: str
    message_count: Annotated[int, Field(description="Of the whole session.")]
    messages: list[MessageItem]
    previous: Next | None = None
    next: Next | None = None


class OneMessage(Answer):
    """A message."""

    session_id: str
    message_count: int
    message: MessageItem
    next: Next | None = None


class Line(BaseModel):
    """A line in which the text was found, counted from 1."""

    line: int
    text: str
    is_cut: bool | None = None
    json_offset: Annotated[
        int | None, Field(description="Of a cut line: where it is found in output_json.")
    ] = None


class ToolContent(Answer):
    """A part of a tool call, or what was found in it."""

    session_id: str
    sequence: int
    part: str
    offset: int | None = None
    bytes: int | None = None
    total_bytes: TotalBytes = None
    stored_bytes: StoredBytes = None
    replaced: Annotated[
        Next | None,
        Field(description="The output is not that of the answer before; reads it from the first."),
    ] = None
    first_line: int | None = None
    total_lines: int | None = None
    text: str | None = None
    matches: list[Line] | None = None
    match_count: Annotated[
        int | None, Field(description="Lines in all that contain it; in the first answer.")
    ] = None
    next: Next | None = None


class Renamed(Answer):
    """A session's new title."""

    session_id: str
    title: str | None
