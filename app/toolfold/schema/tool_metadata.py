"""Tool calls: the light fields of a message's row, and the heavy parts behind the guard."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import strawberry

from toolfold.errors import BadUserInputError
from toolfold.execution.plain import Loading
from toolfold.readable import PREVIEW_CHARACTERS
from toolfold.schema import fields, heavy, selection
from toolfold.schema.blocks import ToolContentBlock, blob_url, hash_text, parse_blocks
from toolfold.schema.content import (
    ContentSlice,
    RawValue,
    fragment,
    slice_part,
)
from toolfold.schema.content_image import ContentImage
from toolfold.schema.content_lines import ContentLines, lines_of
from toolfold.schema.content_text import ContentMatches, find_in, slice_text
from toolfold.schema.context import Info
from toolfold.schema.enums import ContentState, ToolKind, ToolStatus
from toolfold.schema.heavy import ContentOmission
from toolfold.schema.node import Node
from toolfold.schema.rows import MessageRow, session_row
from toolfold.schema.scalars import BigInt, DateTime, JSONValue

if TYPE_CHECKING:
    from toolfold.schema.session import Session

CONTENT = ("content", "blocks")
"""The fields that show the stored content: one decision, one read."""

CONTENT_COLUMNS = ("tool_content_size", "tool_content_hash")


@strawberry.type(description="A place in a file; `line` is counted from 1.")
class ToolLocation:
    """ACP `ToolCallLocation`."""

    path: str
    line: int | None


def parse_locations(text: str) -> list[ToolLocation]:
    """Return the locations in a row's column."""
    return [ToolLocation(path=item["path"], line=item.get("line")) for item in orjson.loads(text)]


def check_max_chars(max_chars: int) -> None:
    """Check how many characters of a preview are asked for.

    Raises:
        BadUserInputError: if they are more than are stored.
    """
    if not 0 <= max_chars <= PREVIEW_CHARACTERS:
        raise BadUserInputError(
            f"maxChars must be between 0 and {PREVIEW_CHARACTERS}.", argument="maxChars"
        )


def _charge(info: Info) -> Callable[[list[Any] | None], None]:
    """Charge the blocks of a content as rows: each takes more of a response than of the store."""
    place, ledger = selection.raw_info(info).path, info.context.ledger
    return lambda blocks: None if blocks is None else ledger.charge_rows(len(blocks), place)


@strawberry.type(
    description=(
        "A tool call. Has an id so that clients' normalised caches keep a loaded `content` when a "
        "page without it comes in."
    )
)
class ToolMetadata(Node):
    """A view of a message's row."""

    @classmethod
    def is_type_of(cls, value: Any, *_: Any) -> bool:
        """Accept every message row: a row that has no tool call is never shown as one."""
        return isinstance(value, MessageRow)

    id: strawberry.ID = fields.message_id("ToolMetadata")

    tool_call_id: str = fields.column("tool_call_id")
    name: str | None = fields.column("tool_name", "The tool's name as the agent gave it.")
    title: str | None = fields.column("tool_title")
    kind: ToolKind = fields.column("tool_kind")
    status: ToolStatus = fields.column("tool_status")
    started_at: DateTime | None = fields.column("tool_started_at")
    ended_at: DateTime | None = fields.column("tool_ended_at")

    @strawberry.field(metadata=fields.reads("tool_locations"))
    def locations(root: strawberry.Parent[Any]) -> list[ToolLocation]:
        return parse_locations(root.tool_locations) if root.tool_locations else []

    @strawberry.field(
        description="The session of the sub-agent that this call started.",
        metadata=fields.repeatable("tool_call_id"),
        graphql_type=Annotated["Session", strawberry.lazy("toolfold.schema.session")] | None,
    )
    def child_session(root: strawberry.Parent[MessageRow], info: Info) -> Loading:
        key = (root.project_id, root.session_id, root.tool_call_id or "")
        return Loading(info.context.loaders.child_sessions.begin(key), session_row)

    content_size: BigInt | None = fields.column(
        "tool_content_size",
        "Stored bytes of `content`: its compact UTF-8 JSON. Null only when there is none. Never "
        "limited.",
    )
    content_hash: str | None = fields.column(
        "tool_content_hash",
        "`sha256:<hex>` of the same bytes: a cache key and an ETag.",
        via=hash_text,
    )

    @strawberry.field(
        description="Whether what is stored is all there was.",
        metadata=fields.reads("tool_content_state"),
    )
    def content_state(root: strawberry.Parent[Any]) -> ContentState:
        return ContentState(root.tool_content_state)

    @strawberry.field(
        description=(
            "Up to `maxChars` (at most 280) characters of the text that a person would read, "
            "stored at write. Never limited."
        ),
        metadata=fields.cut("tool_content_preview", "max_chars", PREVIEW_CHARACTERS),
    )
    def content_preview(
        root: strawberry.Parent[MessageRow], max_chars: int = PREVIEW_CHARACTERS
    ) -> str | None:
        check_max_chars(max_chars)
        preview = root.tool_content_preview
        return None if preview is None else preview[:max_chars]

    @strawberry.field(
        description=(
            "The recorded content. Read only when selected, in one batch per operation. Null "
            "beside a `contentSize` means withheld."
        ),
        metadata=fields.repeatable(*CONTENT_COLUMNS),
        graphql_type=JSONValue | None,
    )
    def content(root: strawberry.Parent[MessageRow], info: Info) -> heavy.Reading:
        return heavy.read(info, root.part("tool_content"), fragment, *CONTENT)

    @strawberry.field(
        description="Non-null exactly when `content` is withheld in this operation.",
        metadata=fields.repeatable(*CONTENT_COLUMNS),
    )
    def content_omitted(root: strawberry.Parent[MessageRow], info: Info) -> ContentOmission | None:
        return heavy.omission(info, root.part("tool_content"), *CONTENT)

    @strawberry.field(
        description=(
            "The same bytes as typed blocks (ACP), admitted with `content`: one decision, one "
            "read. With `maxLines`, null also where the text that a person would read has more "
            "lines."
        ),
        metadata=fields.repeatable(*CONTENT_COLUMNS),
        graphql_type=list[ToolContentBlock] | None,
    )
    def blocks(
        root: strawberry.Parent[MessageRow], info: Info, max_lines: int | None = None
    ) -> heavy.Reading:
        part = root.part("tool_content")
        parse = partial(parse_blocks, project_id=root.project_id, max_lines=max_lines)
        reading = heavy.read(info, part, parse, *CONTENT)
        return None if reading is None else replace(reading, accept=_charge(info))

    @strawberry.field(
        description=(
            "Bytes [offset, offset + length) of the stored JSON, at any size; `length` at most "
            "`limits.maxSliceBytes`."
        ),
        metadata=fields.reads(*CONTENT_COLUMNS),
    )
    async def content_slice(
        root: strawberry.Parent[MessageRow],
        info: Info,
        offset: BigInt = BigInt(0),
        length: int = 65536,
    ) -> ContentSlice | None:
        part = root.part("tool_content")
        return None if part is None else await slice_part(info, part, offset, length)

    @strawberry.field(
        description=(
            "The text that a person would read, by line, at any size. A negative `from` counts "
            "from the end. With `ifOver`, null where it has no more lines than that: one query "
            "asks for a short content by `blocks(maxLines:)` and for a long one by its first lines."
        ),
        metadata=fields.reads(*CONTENT_COLUMNS),
    )
    async def content_lines(
        root: strawberry.Parent[MessageRow],
        info: Info,
        from_: Annotated[int, strawberry.argument(name="from")] = 1,
        count: int = 200,
        if_over: int | None = None,
    ) -> ContentLines | None:
        part = root.part("tool_content")
        if part is None:
            return None
        found = await lines_of(info, part, from_, count)
        return found if if_over is None or found.total_lines > if_over else None

    @strawberry.field(
        description=(
            "Lines of that text that contain `text` (case-insensitive), at any size. `after` is "
            "an `endCursor` of the same `text`."
        ),
        metadata=fields.reads(*CONTENT_COLUMNS),
    )
    async def content_find(
        root: strawberry.Parent[MessageRow],
        info: Info,
        text: str,
        first: int = 20,
        after: str | None = None,
    ) -> ContentMatches | None:
        part = root.part("tool_content")
        return None if part is None else await find_in(info, part, text, first, after)

    @strawberry.field(
        description=(
            "Bytes [offset, offset + length) of that text in UTF-8, at any size; `length` at most "
            "`limits.maxSliceBytes`."
        ),
        metadata=fields.reads(*CONTENT_COLUMNS),
    )
    async def content_text(
        root: strawberry.Parent[MessageRow],
        info: Info,
        offset: BigInt = BigInt(0),
        length: int = 65536,
    ) -> ContentSlice | None:
        part = root.part("tool_content")
        return None if part is None else await slice_text(info, part, offset, length)

    @strawberry.field(
        description=(
            "The images, sounds and other bytes that stand as base64 in the content, in order, "
            "equal ones once. Reads no content, of any size."
        ),
        metadata=fields.repeatable(*CONTENT_COLUMNS),
        graphql_type=list[ContentImage] | None,
    )
    def images(root: strawberry.Parent[MessageRow], info: Info) -> Loading | list[Any]:
        part = root.part("tool_content")
        if part is None:
            return []
        future = info.context.loaders.content_images.begin(part.key)
        return Loading(future, list, accept=_charge(info))

    @strawberry.field(
        description="The same stored bytes over HTTP (the blob route), with Range and ETag.",
        metadata=fields.reads(*CONTENT_COLUMNS),
    )
    def content_url(root: strawberry.Parent[MessageRow]) -> str | None:
        part = root.part("tool_content")
        return None if part is None else blob_url(part.project_id, part.hash)

    @strawberry.field(
        description="What the tool was called with, as recorded.",
        metadata=fields.reads("raw_input_size", "raw_input_hash"),
    )
    def raw_input(root: strawberry.Parent[MessageRow]) -> RawValue | None:
        part = root.part("raw_input")
        return None if part is None else RawValue(part=part)

    @strawberry.field(
        description="What the tool returned beside its content, as recorded.",
        metadata=fields.reads("raw_output_size", "raw_output_hash"),
    )
    def raw_output(root: strawberry.Parent[MessageRow]) -> RawValue | None:
        part = root.part("raw_output")
        return None if part is None else RawValue(part=part)
