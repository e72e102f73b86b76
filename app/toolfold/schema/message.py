"""Messages: what a session is made of, in pages that cost the page."""

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import strawberry
from graphql import FieldNode

from toolfold.execution.plain import Loading
from toolfold.readable import PREVIEW_CHARACTERS
from toolfold.schema import fields, heavy, selection
from toolfold.schema.blocks import blob_url
from toolfold.schema.connection import Connection, PageInfo, Scope, given_filter
from toolfold.schema.content import ContentSlice, slice_bytes, slice_part
from toolfold.schema.context import Info
from toolfold.schema.enums import MessageRole, ToolKind, ToolStatus
from toolfold.schema.global_id import SessionKey
from toolfold.schema.guard import Access
from toolfold.schema.heavy import ContentOmission, Part
from toolfold.schema.node import Node
from toolfold.schema.rows import KEY_COLUMNS, MessageRow, ToolMetadataRow, session_of_message
from toolfold.schema.scalars import BigInt, DateTime
from toolfold.schema.tool_metadata import ToolMetadata, check_max_chars
from toolfold.store import message as message_store

if TYPE_CHECKING:
    from toolfold.schema.session import Session

TEXT_COLUMNS = ("content", "content_size", "content_hash")


@strawberry.type(description="Tokens of a model's responses.")
class TokenUsage:
    """A view of the token columns of a message's or a session's row."""

    input_tokens: BigInt = fields.column("input_tokens")
    output_tokens: BigInt = fields.column("output_tokens")
    cache_read_tokens: BigInt = fields.column("cache_read_tokens")
    cache_creation_tokens: BigInt = fields.column("cache_creation_tokens")


@strawberry.type(description="A file that came with a message.")
class Attachment:
    """A view of an attachment's row."""

    mime_type: str
    size: BigInt
    name: str | None

    @strawberry.field
    def url(root: strawberry.Parent[Any]) -> str:
        return blob_url(root.project_id, root.hash)

    @strawberry.field(
        description=(
            "Bytes [offset, offset + length) of the file; `length` at most `limits.maxSliceBytes`."
        )
    )
    async def slice(
        root: strawberry.Parent[Any], info: Info, offset: BigInt = BigInt(0), length: int = 65536
    ) -> ContentSlice | None:
        access = Access(bulk=True, compact=False, strict=False)
        part = Part(root.project_id, root.hash, root.size, access)
        return await slice_part(info, part, offset, length)


def text_part(row: MessageRow) -> Part | None:
    """Return a message's text as stored content; None where it is short and in the row."""
    return row.part("content")


@strawberry.type(description="One message of a session.")
class Message(Node):
    """A view of a message's row."""

    @classmethod
    def is_type_of(cls, value: Any, *_: Any) -> bool:
        """Accept message rows."""
        return isinstance(value, MessageRow) and not isinstance(value, ToolMetadataRow)

    id: strawberry.ID = fields.message_id("Message")

    @strawberry.field(
        metadata=fields.repeatable(),
        graphql_type=Annotated["Session", strawberry.lazy("toolfold.schema.session")],
    )
    def session(root: strawberry.Parent[MessageRow], info: Info) -> Loading:
        key = (root.project_id, root.session_id)
        return Loading(info.context.loaders.sessions.begin(key), session_of_message)

    sequence: int = fields.column("sequence", "Place in the session: 1-based, dense, immutable.")
    revision: int = fields.column(
        "revision", "The session's revision at this message's last change."
    )
    role: MessageRole = fields.column("role")
    origin: str | None = fields.column(
        "origin", "Who put it there when it is not the role itself: `system` for injected text."
    )
    model: str | None = fields.column("model")
    usage: TokenUsage | None = fields.view(
        "TokenUsage",
        "input_tokens",
        "Of the model's response that this message ends; the messages' usages add up to the "
        "session's.",
    )
    created_at: DateTime = fields.column("created_at")
    repaired: bool = fields.column(
        "repaired",
        "True when bytes had to be repaired on the way in: a lone surrogate, invalid UTF-8, a NUL.",
    )
    content_size: int = fields.column("content_size", "UTF-8 bytes of `content`.")

    @strawberry.field(
        description="The first characters of `content`, at most 280. Never limited.",
        metadata=fields.cut("content_preview", "max_chars", PREVIEW_CHARACTERS),
    )
    def content_preview(
        root: strawberry.Parent[MessageRow], max_chars: int = PREVIEW_CHARACTERS
    ) -> str:
        check_max_chars(max_chars)
        return root.content_preview[:max_chars]

    @strawberry.field(
        description=(
            "The text. Over 16 KiB it obeys the compact guard; all of it counts against the hard "
            "budget."
        ),
        metadata=fields.repeatable(*TEXT_COLUMNS),
        graphql_type=str | None,
    )
    def content(root: strawberry.Parent[MessageRow], info: Info) -> heavy.Reading | str:
        part = text_part(root)
        if part is not None:
            return heavy.read(info, part, bytes.decode, "content")
        decision = heavy.decide_short_text(info, root.content_size, "content")
        if decision.admitted:
            return root.content
        heavy.report(info, decision, root.access, "content")
        return None

    @strawberry.field(
        description="Non-null exactly when `content` is withheld in this operation.",
        metadata=fields.repeatable("content_size", "content_hash"),
    )
    def content_omitted(root: strawberry.Parent[MessageRow], info: Info) -> ContentOmission | None:
        part = text_part(root)
        if part is not None:
            return heavy.omission(info, part, "content")
        if not heavy.shape(info, "content").copies:
            return None
        return heavy.omitted(heavy.decide_short_text(info, root.content_size, "content"))

    @strawberry.field(
        description=(
            "Bytes [offset, offset + length) of the text, at any size; `length` at most "
            "`limits.maxSliceBytes`."
        ),
        metadata=fields.reads(*TEXT_COLUMNS),
    )
    async def content_slice(
        root: strawberry.Parent[MessageRow],
        info: Info,
        offset: BigInt = BigInt(0),
        length: int = 65536,
    ) -> ContentSlice | None:
        part = text_part(root)
        if part is not None:
            return await slice_part(info, part, offset, length)
        text = (root.content or "").encode()

        async def read(start: int, count: int) -> bytes:
            return text[start : start + count]

        short = Part(root.project_id, b"", len(text), root.access)
        return await slice_bytes(info, short, read, offset, length)

    @strawberry.field(
        description="The files that came with the message.",
        metadata=fields.repeatable("attachment_count"),
        graphql_type=list[Attachment],
    )
    def attachments(root: strawberry.Parent[MessageRow], info: Info) -> Loading | list[Any]:
        if not root.attachment_count:
            return []
        return Loading(info.context.loaders.attachments.begin(root.key), list)

    tool_metadata: ToolMetadata | None = fields.view(
        "ToolMetadata", "tool_call_id", "Null when the message carries no tool call."
    )


def message_cursor(scope: Scope, sequence: int) -> str:
    """Return the cursor of a message in a connection."""
    return scope.encode((sequence,))


@strawberry.type(description="A message and its cursor.")
class MessageEdge:
    """A view of a message's row."""

    cursor: str = fields.function(message_cursor, "scope", "sequence")
    node: Message = fields.itself()


@strawberry.type(description="A page of a session's messages, oldest first.")
class MessageConnection:
    """A `Connection` whose edges are the rows themselves."""

    edges: list[MessageEdge] = fields.rows()
    nodes: list[Message] = fields.rows()
    page_info: PageInfo

    @strawberry.field(description="How many messages the filter lets through.")
    async def total_count(root: strawberry.Parent[Connection]) -> int:
        return await root.count()


@strawberry.input(description="Which messages of a session; what is given must all hold.")
class MessageFilter:
    """The arguments of a message filter."""

    roles: list[MessageRole] | None = None
    tool_kinds: list[ToolKind] | None = None
    tool_names: list[str] | None = None
    tool_status: list[ToolStatus] | None = None
    min_content_size: BigInt | None = None

    def facts(self) -> dict[str, Any]:
        """Return what was given, for a cursor's scope.

        Raises:
            BadUserInputError: if a list of it is too long.
        """
        return given_filter(vars(self))

    def where(self) -> message_store.MessageFilter:
        """Return the store's filter."""
        return message_store.MessageFilter(**self.facts())


def message_scope(session: SessionKey, where: MessageFilter) -> Scope:
    """Return what the cursors of a session's messages are of."""
    facts = where.facts()
    return Scope.of("messages", *session, facts, types=(int,)) if facts else _scope_of_all(session)


@lru_cache(maxsize=1_024)
def _scope_of_all(session: SessionKey) -> Scope:
    return Scope.of("messages", *session, {}, types=(int,))


def message_columns(
    info: Info, nodes: list[FieldNode], typename: str, *more: str
) -> tuple[str, ...]:
    """Return the columns to read for messages whose selection, on `typename`, is `nodes`."""
    needed = selection.columns(typename, nodes, selection.raw_info(info)).union(more)
    return (*KEY_COLUMNS, *sorted(needed.difference(KEY_COLUMNS)))
