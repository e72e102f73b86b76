"""The first tables, and the project `default`."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table and the project that exists from the start."""
    _create_project()
    _create_session()
    _create_message()
    _create_message_text()
    _create_content()
    _create_content_chunk()
    _create_content_reference()
    _create_content_image()
    _create_attachment()
    _create_source()
    _create_told_session()
    _create_record()
    _insert_default_project()


def _insert_default_project() -> None:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    project = sa.table("project", sa.column("id"), sa.column("name"), sa.column("created_at"))
    op.execute(project.insert().values(id="default", name="default", created_at=now))


def _create_project() -> None:
    op.create_table(
        "project",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_project"),
        sa.UniqueConstraint("name", name="uq_project_name"),
    )


def _create_session() -> None:
    op.create_table(
        "session",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text()),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("cwd", sa.Text()),
        sa.Column("git_branch", sa.Text()),
        sa.Column("source_format", sa.Text()),
        sa.Column("source_session", sa.Text()),
        sa.Column("parent_source_session", sa.Text()),
        sa.Column("parent_id", sa.Text()),
        sa.Column("parent_tool_call_id", sa.Text()),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("head_sequence", sa.Integer(), nullable=False),
        sa.Column("head_revision", sa.BigInteger(), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        sa.Column("tool_call_count", sa.Integer(), nullable=False),
        sa.Column("content_size", sa.BigInteger(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger()),
        sa.Column("output_tokens", sa.BigInteger()),
        sa.Column("cache_read_tokens", sa.BigInteger()),
        sa.Column("cache_creation_tokens", sa.BigInteger()),
        sa.Column("incarnation", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "status IN ('active', 'completed', 'failed', 'archived')", name="ck_session_status"
        ),
        sa.CheckConstraint("head_sequence = message_count", name="ck_session_dense"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_session_project"),
        sa.PrimaryKeyConstraint("project_id", "id", name="pk_session"),
        sa.UniqueConstraint(
            "project_id",
            "source_format",
            "source_session",
            name="uq_session_project_id_source_format_source_session",
        ),
    )
    op.create_index(
        "ix_session_awaited_parent",
        "session",
        ["project_id", "source_format", "parent_source_session"],
    )
    op.create_index("ix_session_content_size", "session", ["project_id", "content_size", "id"])
    op.create_index("ix_session_created_at", "session", ["project_id", "created_at", "id"])
    op.create_index("ix_session_message_count", "session", ["project_id", "message_count", "id"])
    op.create_index(
        "ix_session_parent",
        "session",
        ["project_id", "parent_id", "parent_tool_call_id"],
        sqlite_where=sa.text("parent_id IS NOT NULL"),
        postgresql_where=sa.text("parent_id IS NOT NULL"),
    )
    op.create_index("ix_session_updated_at", "session", ["project_id", "updated_at", "id"])


def _create_message() -> None:
    op.create_table(
        "message",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("client_digest", sa.LargeBinary()),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text()),
        sa.Column("model", sa.Text()),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("repaired", sa.Boolean(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger()),
        sa.Column("output_tokens", sa.BigInteger()),
        sa.Column("cache_read_tokens", sa.BigInteger()),
        sa.Column("cache_creation_tokens", sa.BigInteger()),
        sa.Column("attachment_count", sa.Integer(), nullable=False),
        sa.Column("tool_call_id", sa.Text()),
        sa.Column("tool_name", sa.Text()),
        sa.Column("tool_title", sa.Text()),
        sa.Column("tool_kind", sa.Text()),
        sa.Column("tool_status", sa.Text()),
        sa.Column("tool_locations", sa.Text()),
        sa.Column("tool_started_at", sa.Text()),
        sa.Column("tool_ended_at", sa.Text()),
        sa.Column("child_source_session", sa.Text()),
        sa.Column("tool_content_size", sa.BigInteger()),
        sa.Column("tool_content_hash", sa.LargeBinary()),
        sa.Column("tool_content_state", sa.Text()),
        sa.Column("raw_input_size", sa.BigInteger()),
        sa.Column("raw_input_hash", sa.LargeBinary()),
        sa.Column("raw_output_size", sa.BigInteger()),
        sa.Column("raw_output_hash", sa.LargeBinary()),
        sa.Column("content_size", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary()),
        sa.Column("tool_content_preview", sa.Text()),
        sa.Column("content_preview", sa.Text()),
        sa.Column("content", sa.Text()),
        sa.CheckConstraint(
            "role IN ('user', 'assistant', 'tool', 'system', 'thinking', 'plan')",
            name="ck_message_role",
        ),
        sa.CheckConstraint(
            "tool_content_state IN ('complete', 'cut_by_agent', 'missing', 'none_recorded')",
            name="ck_message_tool_content_state",
        ),
        sa.CheckConstraint(
            "tool_kind IN ('read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch',"
            " 'switch_mode', 'other')",
            name="ck_message_tool_kind",
        ),
        sa.CheckConstraint(
            "tool_status IN ('pending', 'in_progress', 'completed', 'failed')",
            name="ck_message_tool_status",
        ),
        sa.CheckConstraint(
            "(content IS NULL) = (content_preview IS NOT NULL)"
            " AND (content IS NULL OR content_hash IS NULL)",
            name="ck_message_content_place",
        ),
        sa.CheckConstraint("sequence > 0", name="ck_message_sequence"),
        sa.ForeignKeyConstraint(
            ["project_id", "session_id"],
            ["session.project_id", "session.id"],
            name="fk_message_session",
        ),
        sa.PrimaryKeyConstraint("project_id", "session_id", "sequence", name="pk_message"),
        sa.UniqueConstraint(
            "project_id",
            "session_id",
            "client_id",
            name="uq_message_project_id_session_id_client_id",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_message_child_source_session",
        "message",
        ["project_id", "child_source_session"],
        sqlite_where=sa.text("child_source_session IS NOT NULL"),
        postgresql_where=sa.text("child_source_session IS NOT NULL"),
    )
    op.create_index("ix_message_revision", "message", ["project_id", "session_id", "revision"])
    op.create_index(
        "ix_message_tool_call_id",
        "message",
        ["project_id", "session_id", "tool_call_id"],
        sqlite_where=sa.text("tool_call_id IS NOT NULL"),
        postgresql_where=sa.text("tool_call_id IS NOT NULL"),
    )


def _create_message_text() -> None:
    op.create_table(
        "message_text",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "session_id", "sequence"],
            ["message.project_id", "message.session_id", "message.sequence"],
            name="fk_message_text_message",
        ),
        sa.PrimaryKeyConstraint("project_id", "session_id", "sequence", name="pk_message_text"),
    )


def _create_content() -> None:
    op.create_table(
        "content",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("chunk_size", sa.Integer(), nullable=False),
        sa.Column("base_hash", sa.LargeBinary()),
        sa.Column("base_size", sa.BigInteger(), nullable=False),
        sa.Column("replaced_at", sa.Text()),
        sa.CheckConstraint("(base_hash IS NULL) = (base_size = 0)", name="ck_content_base"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_content_project"),
        sa.ForeignKeyConstraint(
            ["project_id", "base_hash"],
            ["content.project_id", "content.hash"],
            name="fk_content_content",
        ),
        sa.PrimaryKeyConstraint("project_id", "hash", name="pk_content"),
        sqlite_with_rowid=False,
    )
    has_base = sa.text("base_hash IS NOT NULL")
    op.create_index(
        "ix_content_base",
        "content",
        ["project_id", "base_hash"],
        sqlite_where=has_base,
        postgresql_where=has_base,
    )
    is_replaced = sa.text("replaced_at IS NOT NULL")
    op.create_index(
        "ix_content_replaced_at",
        "content",
        ["replaced_at"],
        sqlite_where=is_replaced,
        postgresql_where=is_replaced,
    )


def _create_content_chunk() -> None:
    op.create_table(
        "content_chunk",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "hash"],
            ["content.project_id", "content.hash"],
            name="fk_content_chunk_content",
        ),
        sa.PrimaryKeyConstraint("project_id", "hash", "position", name="pk_content_chunk"),
    )


def _create_content_reference() -> None:
    op.create_table(
        "content_reference",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "hash"],
            ["content.project_id", "content.hash"],
            name="fk_content_reference_content",
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "session_id", "sequence"],
            ["message.project_id", "message.session_id", "message.sequence"],
            name="fk_content_reference_message",
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "hash", "session_id", "sequence", "part", name="pk_content_reference"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_content_reference_message",
        "content_reference",
        ["project_id", "session_id", "sequence"],
    )


def _create_content_image() -> None:
    op.create_table(
        "content_image",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("content_offset", sa.BigInteger(), nullable=False),
        sa.Column("content_length", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "content_hash"],
            ["content.project_id", "content.hash"],
            name="fk_content_image_content",
        ),
        sa.PrimaryKeyConstraint("project_id", "hash", "content_hash", name="pk_content_image"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_content_image_content", "content_image", ["project_id", "content_hash"])


def _create_attachment() -> None:
    op.create_table(
        "attachment",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mime_type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text()),
        sa.ForeignKeyConstraint(
            ["project_id", "hash"],
            ["content.project_id", "content.hash"],
            name="fk_attachment_content",
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "session_id", "sequence"],
            ["message.project_id", "message.session_id", "message.sequence"],
            name="fk_attachment_message",
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "session_id", "sequence", "position", name="pk_attachment"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_attachment_content", "attachment", ["project_id", "hash"])


def _create_source() -> None:
    op.create_table(
        "source",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text()),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("companions", sa.LargeBinary()),
        sa.Column("imported_at", sa.Text(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_source_project"),
        sa.PrimaryKeyConstraint("project_id", "id", name="pk_source"),
    )
    op.create_index("ix_source_digest", "source", ["project_id", "digest"])


def _create_told_session() -> None:
    op.create_table(
        "told_session",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("is_deleted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "source_id"],
            ["source.project_id", "source.id"],
            name="fk_told_session_source",
        ),
        sa.PrimaryKeyConstraint("project_id", "source_id", "session_id", name="pk_told_session"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_told_session_session_id", "told_session", ["project_id", "session_id"])


def _create_record() -> None:
    op.create_table(
        "record",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "source_id"], ["source.project_id", "source.id"], name="fk_record_source"
        ),
        sa.PrimaryKeyConstraint("project_id", "source_id", "line", "position", name="pk_record"),
    )
