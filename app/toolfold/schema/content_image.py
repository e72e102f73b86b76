"""Images and other bytes that stand as base64 in a tool call's content."""

from typing import Any

import strawberry

from toolfold.schema.blocks import blob_url
from toolfold.schema.content import ContentSlice, slice_bytes
from toolfold.schema.context import Info
from toolfold.schema.guard import Access
from toolfold.schema.heavy import Part
from toolfold.schema.scalars import BigInt
from toolfold.store import content as content_store


@strawberry.type(description="An image, a sound or other bytes in a tool call's content.")
class ContentImage:
    """A view of an image's row."""

    @strawberry.field
    def mime_type(root: strawberry.Parent[Any]) -> str:
        return str(root.media_type)

    size: BigInt

    @strawberry.field
    def url(root: strawberry.Parent[Any]) -> str:
        return blob_url(root.project_id, root.hash)

    @strawberry.field(
        description=(
            "Bytes [offset, offset + length) of it; `length` at most `limits.maxSliceBytes`."
        )
    )
    async def slice(
        root: strawberry.Parent[Any], info: Info, offset: BigInt = BigInt(0), length: int = 65536
    ) -> ContentSlice | None:
        access = Access(bulk=True, compact=False, strict=False)
        part = Part(root.project_id, root.hash, root.size, access)

        async def read(start: int, count: int) -> bytes:
            database = info.context.database
            pieces = content_store.stream_image(database, root, start, start + count)
            return b"".join([piece async for piece in pieces])

        return await slice_bytes(info, part, read, offset, length)
