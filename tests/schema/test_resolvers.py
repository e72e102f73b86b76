"""A resolver that is called directly is given what Strawberry gives it."""

from enum import Enum
from typing import Annotated, Any, NewType

import pytest
import strawberry
from graphql import GraphQLObjectType
from strawberry.extensions import FieldExtension
from strawberry.schema.config import StrawberryConfig

from toolfold.schema import build_schema
from toolfold.schema.hooks import HookedSchema

Stamp = NewType("Stamp", str)
STAMP = strawberry.scalar(name="Stamp", parse_value=lambda value: f"<{value}>", serialize=str)


@strawberry.enum
class Colour(Enum):
    """An enum whose values are not its names."""

    RED = "r"


@strawberry.input
class Box:
    """An input object, which Strawberry makes."""

    size: int
    colour: Colour = Colour.RED


class Loud(FieldExtension):
    """Changes what a resolver returns."""

    def resolve(self, next_: Any, source: Any, info: strawberry.Info, **given: Any) -> Any:
        """Say it twice."""
        return next_(source, info, **given) * 2


def said(word: str) -> str:
    """Return the argument."""
    return word


@strawberry.type
class Thing:
    """Fields with every kind of parameter; each tells what it was given."""

    name: str = "thing"

    @strawberry.field
    def of_self(self, info: strawberry.Info, word: str, times: int = 2) -> str:
        return repr((self.name, info.field_name, info.python_name, word, times))

    @strawberry.field
    def of_parent(
        parent: strawberry.Parent["Thing"],  # noqa: N805 - Strawberry's name of it.
        maybe: str | None = None,
    ) -> str:
        return repr((parent.name, maybe))

    @strawberry.field
    def of_root(
        root: Any,  # noqa: N805 - as well.
        first_item: strawberry.ID,
        ratio: float | None = 0.5,
    ) -> str:
        return repr((root.name, first_item, ratio))

    @strawberry.field
    async def waited(
        self,
        named: Annotated[bool, strawberry.argument(name="isNamed")],
        colour: Colour | None = Colour.RED,
    ) -> str:
        return repr((named, colour))

    @strawberry.field
    def converted(
        self,
        boxes: list[Box] | None = None,
        box: Box | None = None,
        colours: list[Colour] | None = None,
        stamp: Stamp | None = None,
    ) -> str:
        return repr((boxes, box, colours, stamp))

    @strawberry.field
    def unset(self, words: list[str] | None = strawberry.UNSET) -> str:
        return repr(words)

    loud: str = strawberry.field(resolver=said, extensions=[Loud()])

    @strawberry.field
    def failing(self, word: str) -> str | None:
        raise ValueError(word)


@strawberry.type
class Query:
    """The root."""

    @strawberry.field
    def thing(self) -> Thing:
        return Thing()


DOCUMENT = """
query ($word: String!, $no: Boolean! = false, $colour: Colour, $box: Box, $stamp: Stamp) {
  thing {
    name
    ofSelf(word: $word) two: ofSelf(word: "x", times: 7)
    ofParent given: ofParent(maybe: $word) null: ofParent(maybe: null)
    ofRoot(firstItem: 12) ratio: ofRoot(firstItem: "a", ratio: 2)
    none: ofRoot(firstItem: 1, ratio: null)
    waited(isNamed: true) no: waited(isNamed: $no, colour: null)
    red: waited(isNamed: $no, colour: $colour)
    converted all: converted(boxes: [{size: 1}], box: $box, colours: [RED], stamp: "s")
    some: converted(stamp: $stamp) empty: converted(boxes: [], box: null)
    unset set: unset(words: ["a"]) one: unset(words: "a")
    loud(word: $word)
    failing(word: $word)
  }
}
"""


@pytest.mark.parametrize(
    "variables",
    [
        {"word": "w"},
        {"word": "w", "no": True, "colour": "RED", "box": {"size": 3}, "stamp": "t"},
        {"word": "w", "colour": None, "box": None, "stamp": None},
    ],
)
async def test_arguments_are_those_that_strawberry_gives(variables: dict[str, Any]) -> None:
    config = StrawberryConfig(scalar_map={Stamp: STAMP})
    results = [
        await kind(query=Query, config=config).execute(DOCUMENT, variables)
        for kind in (HookedSchema, strawberry.Schema)
    ]
    (own, strawberrys) = results
    assert own.data == strawberrys.data
    assert [error.formatted for error in own.errors or []] == [
        error.formatted for error in strawberrys.errors or []
    ]
    assert own.data is not None
    assert own.data["thing"]["two"] == "('thing', 'ofSelf', 'of_self', 'x', 7)"
    assert own.data["thing"]["loud"] == "ww"


def test_the_fields_that_every_query_asks_for_are_called_directly() -> None:
    kinds = build_schema()._schema.type_map  # noqa: SLF001 - where resolvers are.
    for typename, name in (("Query", "session"), ("Session", "messages"), ("Query", "message")):
        kind = kinds[typename]
        assert isinstance(kind, GraphQLObjectType)
        assert kind.fields[name].resolve.__module__ == "toolfold.schema.resolvers"
