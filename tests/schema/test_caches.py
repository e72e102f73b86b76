"""Documents are parsed and validated once, and what is refused stays refused."""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import strawberry
from graphql import FieldNode, GraphQLError, ValidationRule
from strawberry.extensions import AddValidationRules, SchemaExtension
from strawberry.types import ExecutionResult

from toolfold import schema as schema_package
from toolfold.schema import build_schema
from toolfold.schema.caches import MAX_CACHED_CHARACTERS, CachedDocuments, DocumentCaches
from toolfold.schema.context import Resources
from toolfold.schema.masking import MaskedSchema
from toolfold.settings import Settings
from toolfold.store.engine import Database


@strawberry.type
class Query:
    @strawberry.field
    def hello(self, name: str = "you") -> str:
        return f"hello {name}"


def hits(caches: DocumentCaches) -> tuple[int, int]:
    """Return how often a parsed document and a validation were found."""
    return caches.parse.cache_info().hits, caches.validate.cache_info().hits


async def errors(schema: MaskedSchema, document: str, **variables: Any) -> list[str]:
    """Return the messages of a result's errors, the same by execution and as a stream."""
    result = await schema.execute(document, variables)
    assert isinstance(result, ExecutionResult)
    messages = [error.message for error in result.errors or []]
    (sent,) = [sent async for sent in await schema.stream(document, variables)]
    assert isinstance(sent, ExecutionResult)
    assert [error.message for error in sent.errors or []] == messages
    return messages


@pytest.fixture
def caches() -> DocumentCaches:
    return DocumentCaches(2)


@pytest.fixture
def schema(caches: DocumentCaches) -> MaskedSchema:
    return MaskedSchema(Query, extensions=[lambda: CachedDocuments(caches)])


async def test_a_document_is_parsed_and_validated_once(
    schema: MaskedSchema, caches: DocumentCaches
) -> None:
    assert await errors(schema, "{ hello }") == []
    assert hits(caches) == (1, 1)
    assert await errors(schema, "{ hello }") == []
    assert hits(caches) == (3, 3)
    assert caches.parse.cache_info().misses == caches.validate.cache_info().misses == 1


async def test_one_document_with_other_variables_is_the_same_document(
    schema: MaskedSchema, caches: DocumentCaches
) -> None:
    document = "query ($name: String!) { hello(name: $name) }"
    for name in ("a", "b"):
        result = await schema.execute(document, {"name": name})
        assert isinstance(result, ExecutionResult)
        assert result.data == {"hello": f"hello {name}"}
    assert hits(caches) == (1, 1)


async def test_a_syntax_error_is_told_each_time_and_over_a_stream_too(
    schema: MaskedSchema,
) -> None:
    for _ in range(3):
        assert await errors(schema, "{") == ["Syntax Error: Expected Name, found <EOF>."]


async def test_an_invalid_document_is_refused_each_time_from_the_cache(
    schema: MaskedSchema, caches: DocumentCaches
) -> None:
    for _ in range(3):
        assert await errors(schema, "{ x }") == ["Cannot query field 'x' on type 'Query'."]
    assert hits(caches) == (5, 5)


async def test_the_caches_are_bounded_and_forget_what_was_used_least(
    schema: MaskedSchema, caches: DocumentCaches
) -> None:
    for document in ("{ hello }", "{ a: hello }", "{ hello }", "{ b: hello }", "{ hello }"):
        await schema.execute(document)
    assert hits(caches) == (2, 2)
    assert caches.parse.cache_info().currsize == caches.validate.cache_info().currsize == 2


async def test_a_document_too_long_to_be_kept_is_served_and_not_kept(
    schema: MaskedSchema, caches: DocumentCaches
) -> None:
    document = "{ hello }" + " " * MAX_CACHED_CHARACTERS
    for _ in range(2):
        assert await errors(schema, document) == []
        assert await errors(schema, document.replace("hello", "x")) != []
    assert caches.parse.cache_info().currsize == caches.validate.cache_info().currsize == 0


class RefusesAll(SchemaExtension):
    """Refuses documents between parse and validation, as limits do."""

    def on_validate(self) -> Iterator[None]:
        self.execution_context.pre_execution_errors = [GraphQLError("Refused.")]
        yield


async def test_what_another_extension_refuses_is_not_overwritten(caches: DocumentCaches) -> None:
    def cached() -> CachedDocuments:
        return CachedDocuments(caches)

    orders: list[list[Callable[[], SchemaExtension]]]
    orders = [[RefusesAll, cached], [cached, RefusesAll]]
    for extensions in orders:
        schema = MaskedSchema(Query, extensions=extensions)
        for _ in range(2):
            assert await errors(schema, "{ hello }") == ["Refused."]


class NoHello(ValidationRule):
    """A rule beside the specified ones."""

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        if node.name.value == "hello":
            self.report_error(GraphQLError("No hello.", node))


async def test_rules_are_part_of_what_a_validation_is_found_by(caches: DocumentCaches) -> None:
    plain = MaskedSchema(Query, extensions=[lambda: CachedDocuments(caches)])
    strict = MaskedSchema(
        Query, extensions=[lambda: AddValidationRules([NoHello]), lambda: CachedDocuments(caches)]
    )
    for _ in range(2):
        assert await errors(plain, "{ hello }") == []
        assert await errors(strict, "{ hello }") == ["No hello."]
    assert hits(caches) == (7, 6)


async def test_the_schema_that_is_served_finds_its_documents_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caches: DocumentCaches
) -> None:
    monkeypatch.setattr(schema_package, "DocumentCaches", lambda: caches)
    settings = Settings(data_dir=tmp_path)
    database = await Database.open(settings, create=True)
    schema = build_schema()
    for limit in (2_000, 2_000, 1_000):
        resources = Resources(dataclasses.replace(settings, max_tokens=limit), database)
        result = await schema.execute("{ limits { maxTokens } }", context_value=resources)
        assert isinstance(result, ExecutionResult)
        assert result.data == {"limits": {"maxTokens": limit}}
    # Each of the three is looked up again to be remembered.
    assert hits(caches) == (1 + 3, 1)
    await database.close()
