"""Fields that obey the guard: decide from the size, then read through the loader.

A *place* is an object in the response, such as the `toolMetadata` of the third node under one
alias. The heavy fields of a place that show the same stored bytes (`content` and `blocks`) are
one decision, one charge and one read.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import strawberry
from graphql import FieldNode, get_named_type, is_abstract_type
from graphql.pyutils import Path

from toolfold.execution.plain import Loading
from toolfold.loaders import ContentKey
from toolfold.schema import selection
from toolfold.schema.context import Info
from toolfold.schema.enums import OmissionReason
from toolfold.schema.guard import Access, Decision
from toolfold.schema.scalars import BigInt

Reading = Loading | None
"""A heavy field's value on its way, or null at once."""

IN_LOOP_BYTES = 64 * 1024
"""Contents up to this are parsed on the event loop; a thread would cost more than it frees."""


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
    cache_key = ("shape", *_shape_path(raw.path.prev), raw.parent_type.name, *names)
    known: Shape | None = info.context.selected.get(cache_key)
    if known is None:
        fields = selection.at_place(raw.path.prev, raw)
        info.context.selected[cache_key] = known = _shape(fields, raw, names)
    return known


def copies_below(info: Info, *names: str) -> int:
    """Return how often the field being resolved repeats its bytes, in its fields `names`; or 1."""
    raw = selection.raw_info(info)
    fields = selection.subfields(raw.field_nodes, raw)
    return max(1, len(_keys_of(fields, *names)))


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


def read(info: Info, part: Part | None, convert: Callable[[bytes], Any], *names: str) -> Reading:
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
    future = info.context.loaders.contents.begin(part.key)
    return Loading(future, convert, in_thread=_is_long)


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


def _is_long(data: bytes) -> bool:
    return len(data) > IN_LOOP_BYTES


def _shape_path(path: Path | None) -> list[str | None]:
    """Return the response keys and types of a path, list positions aside, from its end."""
    found: list[str | None] = []
    while path is not None:
        path, key, typename = path
        if isinstance(key, str):
            found += (key, typename)
    return found


def _shape(fields: selection.Fields, raw: selection.RawInfo, names: tuple[str, ...]) -> Shape:
    copies = dict.fromkeys(names, 0)
    reporter: str | None = None
    for name in names:
        for key in _keys_of(fields, name):
            copies[name] += _repeats(fields[key], raw)
            reporter = reporter or key
    return Shape(max(copies.values()), reporter)


def _repeats(nodes: list[FieldNode], raw: selection.RawInfo) -> int:
    """Return how often a heavy field shows its bytes: aliases inside `blocks` repeat them too."""
    union = get_named_type(raw.parent_type.fields[nodes[0].name.value].type)
    if not is_abstract_type(union):
        return 1
    most = 1
    for member in raw.schema.get_possible_types(union):
        fields = selection.subfields(nodes, raw, member.name)
        shown = Counter(found[0].name.value for found in fields.values())
        most = max([most, *shown.values()])
    return most


def _keys_of(fields: selection.Fields, *names: str) -> list[str]:
    return [key for key, nodes in fields.items() if nodes[0].name.value in names]
