"""Contents: bytes stored once, and who refers to them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, delete, select

from toolfold.store.content import CHUNK_SIZE
from toolfold.store.images import Image
from toolfold.store.recording.rows import Values, insert_all, insert_missing, portions
from toolfold.store.tables import (
    attachment_table,
    content_chunk_table,
    content_image_table,
    content_reference_table,
    content_table,
)


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes as they are stored: their SHA-256, how many they are, and their zstd frames."""

    hash: bytes
    size: int
    media_type: str
    frames: tuple[bytes, ...]
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """The use of a content by a message; `part` is as in the table's comment."""

    hash: bytes
    session_id: str
    sequence: int
    part: str


def add_missing(connection: Connection, project_id: str, contents: Iterable[Content]) -> None:
    """Store the contents that the project has not got, and the images in all of them.

    A content may be known already as a part in which no images are looked for.
    """
    by_hash = {content.hash: content for content in contents}
    known: set[bytes] = set()
    for portion in portions(by_hash):
        statement = select(content_table.c.hash).where(
            content_table.c.project_id == project_id, content_table.c.hash.in_(portion)
        )
        known.update(connection.execute(statement).scalars())
    new = [by_hash[digest] for digest in sorted(by_hash.keys() - known)]
    insert_missing(connection, content_table, [_content_row(project_id, one) for one in new])
    insert_missing(
        connection,
        content_chunk_table,
        [
            {"project_id": project_id, "hash": one.hash, "position": position, "data": frame}
            for one in new
            for position, frame in enumerate(one.frames)
        ],
    )
    insert_missing(
        connection,
        content_image_table,
        [
            _image_row(project_id, by_hash[digest], image)
            for digest in sorted(by_hash)
            for image in by_hash[digest].images
        ],
    )


def refer(connection: Connection, project_id: str, references: Collection[Reference]) -> None:
    """Add references that are not there yet; contents and messages are there."""
    rows = [_reference_row(project_id, reference) for reference in references]
    insert_missing(connection, content_reference_table, rows)


def release(connection: Connection, project_id: str, references: Collection[Reference]) -> None:
    """Remove references, and the contents that nothing refers to any more."""
    if not references:
        return
    statement = delete(content_reference_table).where(
        *(column == bindparam(column.name) for column in content_reference_table.primary_key)
    )
    rows = [_reference_row(project_id, reference) for reference in references]
    connection.execute(statement, rows)
    for portion in portions({reference.hash for reference in references}):
        delete_unused(connection, project_id, portion)


def attach(connection: Connection, rows: Sequence[Values]) -> None:
    """Insert attachments; every row has every column."""
    insert_all(connection, attachment_table, rows)


def delete_unused(connection: Connection, project_id: str, hashes: list[bytes]) -> None:
    """Delete those of these contents that nothing refers to any more; at most a portion."""
    content, reference = content_table.c, content_reference_table.c
    used = select(reference.hash).where(
        and_(reference.project_id == content.project_id, reference.hash == content.hash)
    )
    statement = select(content.hash).where(
        content.project_id == project_id, content.hash.in_(hashes), ~used.exists()
    )
    unused = list(connection.execute(statement).scalars())
    for table, digest in (
        (content_image_table, content_image_table.c.content_hash),
        (content_chunk_table, content_chunk_table.c.hash),
        (content_table, content.hash),
    ):
        connection.execute(
            delete(table).where(table.c.project_id == project_id, digest.in_(unused))
        )


def _content_row(project_id: str, content: Content) -> Values:
    return {
        "project_id": project_id,
        "hash": content.hash,
        "size": content.size,
        "media_type": content.media_type,
        "chunk_size": CHUNK_SIZE,
    }


def _image_row(project_id: str, content: Content, image: Image) -> Values:
    return {
        "project_id": project_id,
        "hash": image.hash,
        "size": image.size,
        "media_type": image.media_type,
        "content_hash": content.hash,
        "content_offset": image.offset,
        "content_length": image.length,
    }


def _reference_row(project_id: str, reference: Reference) -> Values:
    return {
        "project_id": project_id,
        "hash": reference.hash,
        "session_id": reference.session_id,
        "sequence": reference.sequence,
        "part": reference.part,
    }
