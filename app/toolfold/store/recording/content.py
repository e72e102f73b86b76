"""Contents: bytes stored once, and who refers to them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, and_, bindparam, delete, or_, select, update

from toolfold.store.chunks import CHUNK_SIZE, compress
from toolfold.store.images import Image
from toolfold.store.recording.rows import Values, insert_all, insert_missing, portions
from toolfold.store.tables import (
    attachment_table,
    content_chunk_table,
    content_image_table,
    content_reference_table,
    content_table,
)

_reference = content_reference_table.c
_IS_REFERRED_TO = (
    select(_reference.hash)
    .where(
        and_(
            _reference.project_id == content_table.c.project_id,
            _reference.hash == content_table.c.hash,
        )
    )
    .exists()
)
_above = content_table.alias("above").c
_IS_BASE = (
    select(_above.hash)
    .where(
        and_(
            _above.project_id == content_table.c.project_id,
            _above.base_hash == content_table.c.hash,
        )
    )
    .exists()
)


@dataclass(frozen=True, slots=True)
class Base:
    """The first `size` bytes of the content of this hash, which are those of another one too."""

    hash: bytes
    size: int


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes as they are stored: their SHA-256, how many they are, and their zstd frames.

    With a base the frames hold only what follows it. As the base may be gone by the time at which
    they are written, there are all of the bytes in `data` then.
    """

    hash: bytes
    size: int
    media_type: str
    frames: tuple[bytes, ...]
    images: tuple[Image, ...] = ()
    base: Base | None = None
    data: bytes = b""


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
    bases = {one.base.hash for one in by_hash.values() if one.base is not None}
    known: set[bytes] = set()
    for portion in portions(by_hash.keys() | bases):
        statement = select(content_table.c.hash).where(
            content_table.c.project_id == project_id, content_table.c.hash.in_(portion)
        )
        known.update(connection.execute(statement).scalars())
    new = [_on_what_is(by_hash[digest], known) for digest in sorted(by_hash.keys() - known)]
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


def release(
    connection: Connection, project_id: str, references: Collection[Reference], at: str
) -> None:
    """Remove references. Contents that nothing refers to any more are deleted later: see `sweep`.

    Until then who has read a message as it was finds what it referred to. `at` is the time.
    """
    if not references:
        return
    statement = delete(content_reference_table).where(
        *(column == bindparam(column.name) for column in content_reference_table.primary_key)
    )
    rows = [_reference_row(project_id, reference) for reference in references]
    connection.execute(statement, rows)
    for portion in portions({reference.hash for reference in references}):
        column = content_table.c
        of_unused = (column.project_id == project_id, column.hash.in_(portion), ~_IS_REFERRED_TO)
        connection.execute(update(content_table).where(*of_unused).values(replaced_at=at))


def attach(connection: Connection, rows: Sequence[Values]) -> None:
    """Insert attachments; every row has every column."""
    insert_all(connection, attachment_table, rows)


def sweep(connection: Connection, before: str, limit: int = 500) -> int:
    """Delete contents that were replaced before a time and that nothing uses; return how many.

    At most `limit` of them are looked at: zero is returned once none is left.
    """
    column = content_table.c
    statement = select(column.project_id, column.hash).where(column.replaced_at < before)
    found = connection.execute(statement.order_by(column.replaced_at).limit(limit)).all()
    by_project: dict[str, set[bytes]] = {}
    for project_id, digest in found:
        by_project.setdefault(project_id, set()).add(digest)
    for project_id, hashes in by_project.items():
        for portion in portions(hashes):
            delete_unused(connection, project_id, portion, replaced_before=before)
            # What is in use again, or another content's base, is deleted with its last use.
            in_use = (column.project_id == project_id, column.hash.in_(portion))
            connection.execute(update(content_table).where(*in_use).values(replaced_at=None))
    return len(found)


def delete_unused(
    connection: Connection, project_id: str, hashes: list[bytes], *, replaced_before: str = ""
) -> None:
    """Delete those of these contents that nothing uses, and then what they alone rested on.

    At most a portion. One that was replaced, but not before the time given, is left to `sweep`.
    """
    column = content_table.c
    is_ripe = or_(column.replaced_at.is_(None), column.replaced_at < replaced_before)
    while hashes:
        statement = select(column.hash, column.base_hash).where(
            column.project_id == project_id,
            column.hash.in_(hashes),
            is_ripe,
            ~_IS_REFERRED_TO,
            ~_IS_BASE,
        )
        found = connection.execute(statement).all()
        unused = [row.hash for row in found]
        for table, digest in (
            (content_image_table, content_image_table.c.content_hash),
            (content_chunk_table, content_chunk_table.c.hash),
            (content_table, column.hash),
        ):
            if unused:
                connection.execute(
                    delete(table).where(table.c.project_id == project_id, digest.in_(unused))
                )
        hashes = sorted({row.base_hash for row in found} - {None})


def _on_what_is(content: Content, known: Collection[bytes]) -> Content:
    """Return the content; all of it in its own frames, if its base is not there."""
    if content.base is None or content.base.hash in known:
        return content
    return replace(content, base=None, frames=tuple(compress(content.data)))


def _content_row(project_id: str, content: Content) -> Values:
    return {
        "project_id": project_id,
        "hash": content.hash,
        "size": content.size,
        "media_type": content.media_type,
        "chunk_size": CHUNK_SIZE,
        "base_hash": None if content.base is None else content.base.hash,
        "base_size": 0 if content.base is None else content.base.size,
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
