"""A schema of a few fields that behave as no field of the real one can be made to."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import cast

import orjson
import strawberry
from strawberry.schema.config import StrawberryConfig

from toolfold.errors import BadUserInputError
from toolfold.schema.caches import CachedDocuments, DocumentCaches
from toolfold.schema.deadline import Deadline
from toolfold.schema.masking import MaskedSchema
from toolfold.schema.scalars import SCALARS, DateTime, JSONValue

UNTOLD = "words that no client may read"


@dataclass
class Stage:
    """What a test and the resolvers share."""

    caches: DocumentCaches = field(default_factory=DocumentCaches)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    changes: int = 0


class SmallSchema(MaskedSchema):
    """The schema over a stage of its own."""

    def __init__(self) -> None:
        self.stage = Stage()
        super().__init__(
            Query,
            Mutation,
            Subscription,
            extensions=[lambda: CachedDocuments(self.stage.caches), Deadline],
            config=StrawberryConfig(scalar_map=SCALARS),
        )


def stage(info: strawberry.Info) -> Stage:
    """Return the stage of the schema that is being executed."""
    return cast("SmallSchema", info.schema).stage


@strawberry.type
class Query:
    @strawberry.field
    def hello(self, name: str = "you") -> str:
        return f"hello {name}"

    @strawberry.field
    def at(self, time: DateTime) -> DateTime:
        return time

    @strawberry.field
    def stored(self) -> JSONValue:
        return JSONValue(orjson.Fragment('{"n":123456789012345678901,"s":"é"}'.encode()))

    @strawberry.field
    def broken(self) -> str | None:
        raise ValueError(UNTOLD)

    @strawberry.field
    def broken_all(self) -> str:
        raise ValueError(UNTOLD)

    @strawberry.field
    def refused(self) -> str | None:
        raise BadUserInputError("first must not be negative.", argument="first")

    @strawberry.field
    async def wait(self, info: strawberry.Info) -> str | None:
        stage(info).started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stage(info).cancelled.set()
            raise
        return None


@strawberry.type
class Mutation:
    @strawberry.mutation
    def change(self, info: strawberry.Info) -> int:
        stage(info).changes += 1
        return stage(info).changes


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def ticks(self, count: int = 3) -> AsyncIterator[int]:
        for tick in range(count):
            yield tick

    @strawberry.subscription
    async def broken_ticks(self) -> AsyncIterator[int]:
        yield 0
        raise ValueError(UNTOLD)
