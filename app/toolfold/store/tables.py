"""The tables, once for both databases.

Every primary key leads with `project_id`, and every unique and foreign key contains it, so that
the same schema runs hash-partitioned or distributed. Heavy bytes live in `content_chunk` alone.
Times are text, RFC 3339 in UTC with milliseconds, exactly as they are served; hashes are the 32
bytes of a SHA-256.
"""

import secrets

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

project_table = Table(
    "project",
    metadata,
    Column("id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("name"),
)

session_table = Table(
    "session",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("title", Text),
    Column("agent", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("cwd", Text),
    Column("git_branch", Text),
    # The importer's name and the agent's own id; both null for a session made by a client.
    Column("source_format", Text),
    Column("source_session", Text),
    # The parent's own id as the source gave it; `parent_id` is set once the parent is here.
    Column("parent_source_session", Text),
    Column("parent_id", Text),
    Column("parent_tool_call_id", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("head_sequence", Integer, nullable=False, default=0),
    Column("head_revision", BigInteger, nullable=False, default=0),
    Column("message_count", Integer, nullable=False, default=0),
    Column("tool_call_count", Integer, nullable=False, default=0),
    Column("content_size", BigInteger, nullable=False, default=0),
    # Token sums of the session's messages; all null while no message has any usage.
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cache_read_tokens", BigInteger),
    Column("cache_creation_tokens", BigInteger),
    # Tells the session from another that had its id before it, or will have it.
    Column("incarnation", Text, nullable=False, default=lambda: secrets.token_hex(6)),
    PrimaryKeyConstraint("project_id", "id"),
    UniqueConstraint("project_id", "source_format", "source_session"),
    ForeignKeyConstraint(["project_id"], ["project.id"]),
    CheckConstraint("status IN ('active', 'completed', 'failed', 'archived')", name="status"),
    CheckConstraint("head_sequence = message_count", name="dense"),
    Index("ix_session_updated_at", "project_id", "updated_at", "id"),
    Index("ix_session_created_at", "project_id", "created_at", "id"),
    Index("ix_session_content_size", "project_id", "content_size", "id"),
    Index("ix_session_message_count", "project_id", "message_count", "id"),
    # Partial, so that it is not taken for the sessions that have no parent, which are most.
    Index(
        "ix_session_parent",
        "project_id",
        "parent_id",
        "parent_tool_call_id",
        sqlite_where=text("parent_id IS NOT NULL"),
        postgresql_where=text("parent_id IS NOT NULL"),
    ),
    Index("ix_session_awaited_parent", "project_id", "source_format", "parent_source_session"),
)

message_table = Table(
    "message",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("client_id", Text, nullable=False),
    # The beginning of the SHA-256 of the message as a client first told it; null for any other.
    Column("client_digest", LargeBinary),
    Column("role", Text, nullable=False),
    Column("origin", Text),
    Column("model", Text),
    Column("created_at", Text, nullable=False),
    Column("repaired", Boolean(create_constraint=False), nullable=False, default=False),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cache_read_tokens", BigInteger),
    Column("cache_creation_tokens", BigInteger),
    Column("attachment_count", Integer, nullable=False, default=0),
    # The tool call's light fields; all null when the message carries none.
    Column("tool_call_id", Text),
    Column("tool_name", Text),
    Column("tool_title", Text),
    Column("tool_kind", Text),
    Column("tool_status", Text),
    # Compact JSON: [{"path": text, "line": integer or null}, ...].
    Column("tool_locations", Text),
    Column("tool_started_at", Text),
    Column("tool_ended_at", Text),
    # The agent's own id of the sub-agent's session that the call started.
    Column("child_source_session", Text),
    # Sizes are those of the stored bytes; null when the part was not recorded.
    Column("tool_content_size", BigInteger),
    Column("tool_content_hash", LargeBinary),
    Column("tool_content_state", Text),
    Column("raw_input_size", BigInteger),
    Column("raw_input_hash", LargeBinary),
    Column("raw_output_size", BigInteger),
    Column("raw_output_hash", LargeBinary),
    # UTF-8 bytes of the text. Up to 1 KiB it is here and its own preview, up to 16 KiB it is in
    # `message_text`; a longer one is content under its hash.
    Column("content_size", Integer, nullable=False, default=0),
    Column("content_hash", LargeBinary),
    Column("tool_content_preview", Text),
    Column("content_preview", Text),
    Column("content", Text),
    PrimaryKeyConstraint("project_id", "session_id", "sequence"),
    UniqueConstraint("project_id", "session_id", "client_id"),
    ForeignKeyConstraint(["project_id", "session_id"], ["session.project_id", "session.id"]),
    CheckConstraint(
        "role IN ('user', 'assistant', 'tool', 'system', 'thinking', 'plan')", name="role"
    ),
    CheckConstraint(
        "tool_kind IN ('read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch',"
        " 'switch_mode', 'other')",
        name="tool_kind",
    ),
    CheckConstraint(
        "tool_status IN ('pending', 'in_progress', 'completed', 'failed')", name="tool_status"
    ),
    CheckConstraint(
        "tool_content_state IN ('complete', 'cut_by_agent', 'missing', 'none_recorded')",
        name="tool_content_state",
    ),
    CheckConstraint(
        "(content IS NULL) = (content_preview IS NOT NULL)"
        " AND (content IS NULL OR content_hash IS NULL)",
        name="content_place",
    ),
    CheckConstraint("sequence > 0", name="sequence"),
    Index("ix_message_revision", "project_id", "session_id", "revision"),
    # Partial, so that PostgreSQL does not take it for a page while it has no statistics yet.
    Index(
        "ix_message_tool_call_id",
        "project_id",
        "session_id",
        "tool_call_id",
        sqlite_where=text("tool_call_id IS NOT NULL"),
        postgresql_where=text("tool_call_id IS NOT NULL"),
    ),
    # Finds the call that started a session which is imported after it; few messages have one.
    Index(
        "ix_message_child_source_session",
        "project_id",
        "child_source_session",
        sqlite_where=text("child_source_session IS NOT NULL"),
        postgresql_where=text("child_source_session IS NOT NULL"),
    ),
    # The rows of a session lie together, however many sessions are written at the same time. But
    # SQLite reads all of such a row to compare its key, so it holds nothing wide.
    sqlite_with_rowid=False,
)

# Texts that would make a message's row too wide to list, and are no content yet.
message_text_table = Table(
    "message_text",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("text", Text, nullable=False),
    PrimaryKeyConstraint("project_id", "session_id", "sequence"),
    ForeignKeyConstraint(
        ["project_id", "session_id", "sequence"],
        ["message.project_id", "message.session_id", "message.sequence"],
    ),
)

content_table = Table(
    "content",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("media_type", Text, nullable=False),
    # Bytes of content in each chunk but the last, before compression.
    Column("chunk_size", Integer, nullable=False),
    # The content whose first `base_size` bytes are also the first of this one. Its own chunks
    # hold what follows them; all of it, if it has no base.
    Column("base_hash", LargeBinary),
    Column("base_size", BigInteger, nullable=False, default=0),
    # When a message ceased to refer to it; what nothing uses is deleted some time after that.
    Column("replaced_at", Text),
    PrimaryKeyConstraint("project_id", "hash"),
    ForeignKeyConstraint(["project_id"], ["project.id"]),
    ForeignKeyConstraint(["project_id", "base_hash"], ["content.project_id", "content.hash"]),
    CheckConstraint("(base_hash IS NULL) = (base_size = 0)", name="base"),
    Index(
        "ix_content_base",
        "project_id",
        "base_hash",
        sqlite_where=text("base_hash IS NOT NULL"),
        postgresql_where=text("base_hash IS NOT NULL"),
    ),
    Index(
        "ix_content_replaced_at",
        "replaced_at",
        sqlite_where=text("replaced_at IS NOT NULL"),
        postgresql_where=text("replaced_at IS NOT NULL"),
    ),
    sqlite_with_rowid=False,
)

content_chunk_table = Table(
    "content_chunk",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("position", Integer, nullable=False),
    # One zstd frame with its checksum.
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("project_id", "hash", "position"),
    ForeignKeyConstraint(["project_id", "hash"], ["content.project_id", "content.hash"]),
)

content_reference_table = Table(
    "content_reference",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    # tool_content, raw_input, raw_output, content, or attachment.
    Column("part", Text, nullable=False),
    PrimaryKeyConstraint("project_id", "hash", "session_id", "sequence", "part"),
    ForeignKeyConstraint(["project_id", "hash"], ["content.project_id", "content.hash"]),
    ForeignKeyConstraint(
        ["project_id", "session_id", "sequence"],
        ["message.project_id", "message.session_id", "message.sequence"],
    ),
    Index("ix_content_reference_message", "project_id", "session_id", "sequence"),
    sqlite_with_rowid=False,
)

content_image_table = Table(
    "content_image",
    metadata,
    Column("project_id", Text, nullable=False),
    # SHA-256 of the decoded bytes.
    Column("hash", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("media_type", Text, nullable=False),
    # Where the base64 stands: bytes [offset, offset + length) of the content's stored JSON.
    Column("content_hash", LargeBinary, nullable=False),
    Column("content_offset", BigInteger, nullable=False),
    Column("content_length", BigInteger, nullable=False),
    PrimaryKeyConstraint("project_id", "hash", "content_hash"),
    ForeignKeyConstraint(["project_id", "content_hash"], ["content.project_id", "content.hash"]),
    Index("ix_content_image_content", "project_id", "content_hash"),
    sqlite_with_rowid=False,
)

attachment_table = Table(
    "attachment",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mime_type", Text, nullable=False),
    Column("name", Text),
    PrimaryKeyConstraint("project_id", "session_id", "sequence", "position"),
    ForeignKeyConstraint(["project_id", "hash"], ["content.project_id", "content.hash"]),
    ForeignKeyConstraint(
        ["project_id", "session_id", "sequence"],
        ["message.project_id", "message.session_id", "message.sequence"],
    ),
    Index("ix_attachment_content", "project_id", "hash"),
    sqlite_with_rowid=False,
)

source_table = Table(
    "source",
    metadata,
    Column("project_id", Text, nullable=False),
    # SHA-256, hexadecimal: of a file's absolute path, or of what names a session's stream.
    Column("id", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("session_id", Text),
    # What was read when the last transaction ended: bytes, their SHA-256, and whole lines; of a
    # stream no bytes, the SHA-256 of the digest before and of the last record, and messages.
    Column("size", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("line", Integer, nullable=False),
    # SHA-256 over names and sizes of the files beside it that belong to it; null until the end
    # of the file was reached.
    Column("companions", LargeBinary),
    Column("imported_at", Text, nullable=False),
    # It is told while it is written: no one asks for its sessions anew, as one does by an import.
    Column("is_live", Boolean(create_constraint=False), nullable=False, default=False),
    PrimaryKeyConstraint("project_id", "id"),
    ForeignKeyConstraint(["project_id"], ["project.id"]),
    Index("ix_source_digest", "project_id", "digest"),
)

# Every session that a source told of, so that it is read again when one of them was deleted; those
# of a live one stay here, so that what it goes on to tell of them is left out.
told_session_table = Table(
    "told_session",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("source_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("is_deleted", Boolean(create_constraint=False), nullable=False, default=False),
    PrimaryKeyConstraint("project_id", "source_id", "session_id"),
    ForeignKeyConstraint(["project_id", "source_id"], ["source.project_id", "source.id"]),
    Index("ix_told_session_session_id", "project_id", "session_id"),
    sqlite_with_rowid=False,
)

record_table = Table(
    "record",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("source_id", Text, nullable=False),
    Column("line", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("raw", LargeBinary, nullable=False),
    PrimaryKeyConstraint("project_id", "source_id", "line", "position"),
    ForeignKeyConstraint(["project_id", "source_id"], ["source.project_id", "source.id"]),
)
