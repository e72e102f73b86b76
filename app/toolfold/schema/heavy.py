"""Fields that obey the guard: decide from the size, then read through the loader.

A *place* is an object in the response, such as the `toolMetadata` of the third node under one
alias. The heavy fields of a place that show the same stored bytes (`content` and `blocks`) are
one decision, one charge and one read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

import strawberry

from toolfold.errors import CorruptContentError
from toolfold.loaders import ContentKey
from toolfold.schema import selection
from toolfold.schema.context import Info
from toolfold.schema.enums import OmissionReason
from toolfold.schema.guard import Access, Decision
from toolfold.schema.scalars import BigInt

T = TypeVar("T")

Reading = Awaitable[T] | None
"""A heavy field's value on its way, or null at once."""

TEXT_LIMIT_BYTES = 16 * 1024
"""A message's text over this is a heavy field."""

IN_LOOP_BYTES = 64 * 1024
"""Contents up to this are parsed on the event loop; a thread would cost more than it frees."""

_BLOCK_TEXTS = ("text", "oldText", "newText", "output", "embeddedText", "raw")


@strawberry.type(description="Why a heavy field was withheld, and what it would have taken.")
class ContentOmission:
    """The answer of a guard that refused."""

    reason: OmissionReason
    size: BigInt
    limit: BigInt


@dataclass(frozen=True, slots=True)
class Shape:
    """How the heavy fields of one kind of place are selected.

    `copies` is how often the response repeats the stored bytes; 0 when they are not selected.
    `reporter` is the response key at which a refusal under `compact: false` is reported.
    """

    copies: int
    reporter: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """Stored bytes that a message refers to: where they are, how many, and who may read them."""

    project_id: str
    hash: bytes
    size: int
    access: Access

    @property
    def key(self) -> ContentKey:
        """The key by which they are loaded."""
        return self.project_id, self.hash


def shape(info: Info, *names: str) -> Shape:
    """Return how the fields `names` are selected in the object whose field is being resolved."""
    raw = selection.raw_info(info)
    path = raw.path.prev.as_list() if raw.path.prev else []
    cache_key = (*(key for key in path if isinstance(key, str)), *names)
    known = info.context.shapes.get(cache_key)
    if known is None:
        fields = selection.at_path(path, raw)
        info.context.shapes[cache_key] = known = _shape(fields, raw, names)
    return known


def place(info: Info) -> Hashable:
    """Return what distinguishes the object whose field is being resolved in the response."""
    return selection.raw_info(info).path.prev


def decide(info: Info, part: Part, *names: str) -> Decision:
    """Return the guard's decision on the heavy fields `names` of this place."""
    info.context.ledger.heavy_asked = True
    copies = shape(info, *names).copies
    return info.context.ledger.admit((place(info), names[0]), part.size, copies, part.access)


def decide_short_text(info: Info, size: int, *names: str) -> Decision:
    """Return the hard budget's decision on a text of `size` bytes that is no heavy field."""
    copies = shape(info, *names).copies
    return info.context.ledger.admit_short_text((place(info), names[0]), size, copies)


def read(info: Info, part: Part | None, convert: Callable[[bytes], T], *names: str) -> Reading[T]:
    """Return what `convert` makes of the stored bytes; None if there are none or they are withheld.

    `names` are the fields that share this decision; the decision is made at once, in the order
    in which resolvers are called, and only the read is awaited.

    Raises:
        ContentBudgetError: if they are withheld although all was asked for, once per place.
    """
    if part is None:
        info.context.ledger.heavy_asked = True
        return None
    decision = decide(info, part, *names)
    if not decision.admitted:
        report(info, decision, part.access, *names)
        return None
    return _converted(info.context.loaders.contents.load(part.key), convert, part)


def report(info: Info, decision: Decision, access: Access, *names: str) -> None:
    """Raise a refusal where it is to be an error, and only at the field that its place reports.

    Raises:
        ContentBudgetError: under an explicit `compact: false`, at one field of the place.
    """
    if access.strict and selection.raw_info(info).path.key == shape(info, *names).reporter:
        raise info.context.ledger.refusal(decision.size)


def omission(info: Info, part: Part | None, *names: str) -> ContentOmission | None:
    """Return why the fields `names` of this place are withheld; None if they are not selected."""
    if part is None or not shape(info, *names).copies:
        return None
    return omitted(decide(info, part, *names))


def omitted(decision: Decision) -> ContentOmission | None:
    """Return a refusal as GraphQL shows it."""
    if decision.reason is None:
        return None
    return ContentOmission(
        reason=decision.reason, size=BigInt(decision.size), limit=BigInt(decision.limit)
    )


async def stored_bytes(loading: Awaitable[bytes | None], part: Part) -> bytes:
    """Return what a loader found of a part.

    Raises:
        CorruptContentError: if the store does not hold what the message's row refers to.
    """
    data = await loading
    if data is None:
        raise CorruptContentError(f"Content sha256:{part.hash.hex()} is missing from the store.")
    return data


async def _converted(
    loading: Awaitable[bytes | None], convert: Callable[[bytes], T], part: Part
) -> T:
    data = await stored_bytes(loading, part)
    if len(data) <= IN_LOOP_BYTES:
        return convert(data)
    return await asyncio.to_thread(convert, data)


def _shape(fields: selection.Fields, raw: selection.RawInfo, names: tuple[str, ...]) -> Shape:
    copies = dict.fromkeys(names, 0)
    reporter: str | None = None
    for name in names:
        for key, nodes in fields.items():
            if nodes[0].name.value == name:
                copies[name] += _repeats(selection.subfields(nodes, raw))
                reporter = reporter or key
    return Shape(max(copies.values()), reporter)


def _repeats(fields: selection.Fields) -> int:
    # Aliases inside `blocks` repeat the bytes as aliases of `content` do.
    return max(1, *(len(selection.named(fields, name)) for name in _BLOCK_TEXTS))
