"""Documents that ask for the same as a trusted one, and such that only look like it."""

import sys
from typing import Any

import pytest
from graphql import (
    GraphQLResolveInfo,
    OperationDefinitionNode,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from toolfold.server.equivalence import EquivalentDocuments

SCHEMA = build_schema("""
directive @say(a: Int, b: Int) repeatable on FIELD | QUERY | FRAGMENT_SPREAD | INLINE_FRAGMENT

type Query { told(a: Int, b: Int, texts: [String], input: Input): String, one: One, other: One }
type Mutation { set(to: Int, by: Int): One }
type One { a: String, b: String, inner: One }
input Input { a: Int, b: Int, list: [Int], inner: Input }
""")

THE_SAME = [
    # Ignored tokens and descriptions.
    ("{ one { a } told }", "\ufeff{,one,{a}# A comment.\n\ttold }"),
    ("query Q { told }", '"What it is for." query Q { told }'),
    ("query Q($n: Int) { told(a: $n) }", 'query Q("How many." $n: Int) { told(a: $n) }'),
    ("{ ...F } fragment F on Query { told }", '{ ...F } """Some.""" fragment F on Query { told }'),
    ("{ told }", "query { told }"),
    # The order of what has a name.
    ("query A { told } query B { one { a } }", "query B { one { a } } query A { told }"),
    (
        "{ ...F ...G } fragment F on Query { told } fragment G on Query { one { a } }",
        "fragment G on Query { one { a } } { ...F ...G } fragment F on Query { told }",
    ),
    (
        "query Q($n: Int = 1, $m: Int) { told(a: $n, b: $m) }",
        "query Q($m: Int, $n: Int = 1) { told(a: $n, b: $m) }",
    ),
    ("{ told(a: 1, b: 2) }", "{ told(b: 2, a: 1) }"),
    ("{ told @say(a: 1, b: 2) }", "{ told @say(b: 2, a: 1) }"),
    (
        "{ told(input: {a: 1, inner: {a: 2, b: 3}}) }",
        "{ told(input: {inner: {b: 3, a: 2}, a: 1}) }",
    ),
    (
        "query Q($i: Input = {a: 1, b: 2}) { told(input: $i) }",
        "query Q($i: Input = {b: 2, a: 1}) { told(input: $i) }",
    ),
    # The order of selections, and those that stand twice.
    ("{ told one { a b } }", "{ one { b a } told }"),
    ("{ told ... { one { a } } }", "{ ... { one { a } } told }"),
    (
        "{ ...F told } fragment F on Query { one { a } other { b } }",
        "{ told ...F } fragment F on Query { other { b } one { a } }",
    ),
    ("{ told one { a b } }", "{ one { a b } told one { b a } told }"),
    ("{ ...F } fragment F on Query { told }", "{ ...F ...F } fragment F on Query { told told }"),
    ("{ ... @include(if: true) { told } }", "{ ... @include(if: true) { told told } }"),
    # Type names.
    ("{ told one { a } }", "{ told __typename one { __typename a } }"),
    ("{ told __typename one { a __typename } }", "{ told one { a } }"),
    ("{ one { __typename } }", "{ one { __typename __typename } __typename }"),
    # How a text is quoted.
    ('{ told(texts: ["a\\nb", "é"]) }', '{ told(texts: ["""\n  a\n  b\n""", "\\u00e9"]) }'),
    # What a mutation's own fields select and are given; a repeat is executed with the first.
    ("mutation { set(to: 1, by: 2) { a b } }", "mutation { set(by: 2, to: 1) { b a } }"),
    ("mutation { set { inner { a b } } }", "mutation { __typename set { inner { b b a } } }"),
    (
        "mutation { set(to: 1) { a } x: set(to: 2) { a } }",
        "mutation { set(to: 1) { a } x: set(to: 2) { a } set(to: 1) { a } }",
    ),
    (
        "mutation { set(to: 1) { ...F } x: set(to: 2) { a } } fragment F on One { a b }",
        "fragment F on One { b a } mutation { set(to: 1) { ...F } x: set(to: 2) { a } }",
    ),
]

IN_ORDER = "set(to: 1) { a } x: set(to: 2) { a }"
REVERSED = "x: set(to: 2) { a } set(to: 1) { a }"

NOT_THE_SAME = [
    # A mutation's own fields are executed in their order, also those of its fragments.
    *[
        (text.replace("FIELDS", IN_ORDER), text.replace("FIELDS", REVERSED))
        for text in (
            "mutation { FIELDS }",
            "mutation { ... { FIELDS } }",
            "mutation { ... on M { ... @include(if: true) { FIELDS } } }",
            "mutation { ...F } fragment F on M { FIELDS }",
            "fragment G on M { FIELDS } mutation { ...F } fragment F on M { ... { ...G } }",
            "query Q { told } mutation M { FIELDS }",
            "mutation M { set } mutation N { FIELDS }",
        )
    ],
    (f"mutation {{ {IN_ORDER} }}", f"mutation {{ {REVERSED} set(to: 1) {{ a }} }}"),
    ("mutation { ... { set } x: set }", "mutation { x: set ... { set } }"),
    (
        "mutation { ...F x: set } fragment F on M { set }",
        "mutation { x: set ...F } fragment F on M { set }",
    ),
    # Lists keep their order and what stands twice.
    ("{ told(texts: [A, B]) }", "{ told(texts: [B, A]) }"),
    ("{ told(texts: [A, B]) }", "{ told(texts: [A, A, B]) }"),
    ("{ told(texts: [A, A]) }", "{ told(texts: [A]) }"),
    ("{ told(texts: [[1, 2], [3]]) }", "{ told(texts: [[1], [2, 3]]) }"),
    ("{ told(texts: [[1]]) }", "{ told(texts: [1]) }"),
    ("{ told(texts: []) }", "{ told(texts: [[]]) }"),
    ("{ told(input: {list: [1, 2]}) }", "{ told(input: {list: [2, 1]}) }"),
    ("query Q($l: [Int] = [1, 2]) { told }", "query Q($l: [Int] = [2, 1]) { told }"),
    ("{ told @say(l: [1, 2]) }", "{ told @say(l: [2, 1]) }"),
    # So do directives, wherever they stand.
    ("{ told @a @b }", "{ told @b @a }"),
    ("{ told @a @b }", "{ told @a @b @a }"),
    ("{ told @a @a }", "{ told @a }"),
    ("{ told @a }", "{ told }"),
    ("{ told @a }", "{ told @b }"),
    ("{ told @a(x: 1) }", "{ told @a(x: 2) }"),
    ("{ told @a one { a } }", "{ told one @a { a } }"),
    ("query @a @b { told }", "query @b @a { told }"),
    ("query Q { told }", "query Q @a { told }"),
    ("query Q($n: Int @a @b) { told }", "query Q($n: Int @b @a) { told }"),
    ("{ ... @a @b { told } }", "{ ... @b @a { told } }"),
    ("{ ...F @a @b } fragment F on Q { told }", "{ ...F @b @a } fragment F on Q { told }"),
    ("{ ...F } fragment F on Q @a @b { told }", "{ ...F } fragment F on Q @b @a { told }"),
    # Values of another kind, and other values.
    *[
        ("{ told(a: 1) }", f"{{ told(a: {value}) }}")
        for value in ("2", "1.0", '"1"', "[1]", "{a: 1}", "-1", "null", "$a", "a", "true")
    ],
    ("{ told(a: true) }", "{ told(a: false) }"),
    ("{ told(a: 1.0) }", "{ told(a: 1.00) }"),
    ('{ told(a: "a") }', "{ told(a: a) }"),
    ("{ told(a: $a) }", "{ told(a: a) }"),
    ("{ told(a: null) }", "{ told }"),
    ('{ told(a: "a  b") }', '{ told(a: "a b") }'),
    ('{ told(a: """\na\n  b\n""") }', '{ told(a: """\na\nb\n""") }'),
    ("{ told(a: 1, b: 2) }", "{ told(a: 2, b: 1) }"),
    ("{ told(a: 1) }", "{ told(a: 1, b: 2) }"),
    ("{ told(a: 1) }", "{ told(a: 1, a: 1) }"),
    ("{ told(input: {a: 1, b: 2}) }", "{ told(input: {a: 2, b: 1}) }"),
    ("{ told(input: {a: 1}) }", "{ told(input: {a: 1, a: 1}) }"),
    ("{ told(input: {inner: {a: 1}}) }", "{ told(input: {a: 1}) }"),
    # Variables.
    ("query Q($n: Int) { told }", "query Q($n: Int = 1) { told }"),
    ("query Q($n: Int = 1) { told }", "query Q($n: Int = 2) { told }"),
    ("query Q($n: Int!) { told }", "query Q($n: Int) { told }"),
    ("query Q($n: [Int!]) { told }", "query Q($n: [Int]!) { told }"),
    ("query Q($n: Int) { told }", "query Q($n: Float) { told }"),
    ("query Q($n: Int) { told }", "query Q($m: Int) { told }"),
    ("query Q($n: Int) { told }", "query Q($n: Int, $m: Int) { told }"),
    ("query Q($n: Int) { told }", "query Q($n: Int, $n: Int) { told }"),
    ("query Q($n: Int, $m: Int = 1) { told }", "query Q($n: Int = 1, $m: Int) { told }"),
    # Selections.
    ("{ told }", "{ one }"),
    ("{ told }", "{ told one }"),
    ("{ told one }", "{ told }"),
    ("{ told }", "{ one: told }"),
    ("{ a: told }", "{ b: told }"),
    ("{ a: b }", "{ b: a }"),
    ("{ one { a } b }", "{ one { a b } }"),
    ("{ one { a } }", "{ one }"),
    ("{ one { a } other { b } }", "{ one { b } other { a } }"),
    ("{ told }", "{ ... { told } }"),
    ("{ ... on Query { told } }", "{ ... on Other { told } }"),
    ("{ ... on Query { told } }", "{ ... { told } }"),
    # Type names that say more, or are none.
    ("{ told }", "{ told a: __typename }"),
    ("{ told }", "{ told __typename @a }"),
    ("{ told }", "{ told __typename(a: 1) }"),
    ("{ told }", "{ told __typename { one } }"),
    ("{ told }", "{ told __typename: one }"),
    ("{ told }", "{ told __schema { description } }"),
    ("{ one }", "{ one { __typename } }"),
    ("{ told }", "{ told ... { __typename } }"),
    # Definitions.
    ("query A { told }", "query B { told }"),
    ("query A { told }", "{ told }"),
    ("query A { told }", "mutation A { told }"),
    ("query A { told }", "subscription A { told }"),
    ("query A { told }", "query A { told } query A { told }"),
    ("query A { told }", "query A { told } query B { told }"),
    ("query A { told }", "query A { told } query B { __typename }"),
    ("query A { told }", "query A { told } type A { a: Int }"),
    ("query A { told } query B { one }", "query A { told }"),
    ("query A { told } query B { one }", "query A { one } query B { told }"),
    ("{ ...F } fragment F on Q { told }", "{ ...G } fragment G on Q { told }"),
    ("{ ...F } fragment F on Q { told }", "{ ...F } fragment F on Q { one }"),
    ("{ ...F } fragment F on Q { told }", "{ ...F } fragment F on R { told }"),
    ("{ ...F } fragment F on Q { told }", "{ ...F } fragment F on Q { told told @a }"),
    ("{ told }", "{ told } fragment F on Q { told }"),
    (
        "{ ...F } fragment F on Q { told }",
        "{ ...F } fragment F on Q { told } fragment F on Q { told }",
    ),
]


def are_equivalent(trusted: str, text: str) -> bool:
    return parse(text) in EquivalentDocuments([parse("{ first }"), parse(trusted)])


def outcome(text: str) -> tuple[Any, list[Any]]:
    """Return the answer of each of a document's operations, and what its mutations did."""
    document = parse(text)
    assert validate(SCHEMA, document) == []
    done: list[Any] = []

    def resolve(_: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        if info.parent_type.name == "Mutation":
            done.append(arguments)
        return repr(sorted(arguments.items()))

    results = {}
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            name = node.name.value if node.name else None
            result = execute_sync(SCHEMA, document, field_resolver=resolve, operation_name=name)
            assert result.errors is None
            results[name] = without_type_names(result.data)
    return results, done


def without_type_names(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    return {key: without_type_names(item) for key, item in data.items() if key != "__typename"}


@pytest.mark.parametrize(("trusted", "text"), THE_SAME)
def test_documents_that_ask_for_the_same_are_equivalent_and_have_the_same_outcome(
    trusted: str, text: str
) -> None:
    assert are_equivalent(trusted, text)
    assert are_equivalent(text, trusted)
    assert outcome(trusted) == outcome(text)


@pytest.mark.parametrize(("trusted", "text"), NOT_THE_SAME)
def test_documents_that_differ_in_anything_else_are_not(trusted: str, text: str) -> None:
    assert are_equivalent(trusted, f"\n{trusted}")
    assert not are_equivalent(trusted, text)
    assert not are_equivalent(text, trusted)


def test_what_several_documents_ask_for_is_not_put_together() -> None:
    documents = EquivalentDocuments(map(parse, ("query A { one { a } }", "query B { one { b } }")))
    for text in ("query A { one { b } }", "query A { one { a b } }", "{ a }", "{ one { a } }"):
        assert parse(text) not in documents
    assert parse("query A { one { a } } query B { one { b } }") not in documents


def test_a_fragment_that_spreads_itself_is_equivalent_to_itself_alone() -> None:
    text = "mutation { ...F ...Unknown } fragment F on M { set ...F x: set }"
    assert are_equivalent(text, f" {text}")
    assert not are_equivalent(text, text.replace("set ...F x: set", "x: set ...F set"))


@pytest.mark.parametrize(
    ("before", "after"), [("{ a(x: ", ") }"), ("mutation { a { b(x: ", ") } }")]
)
@pytest.mark.parametrize(("opening", "closing"), [("{a: ", "}"), ("[", "]")])
def test_how_deep_a_document_is_nested_costs_nothing_more(
    before: str, after: str, opening: str, closing: str
) -> None:
    def nested(levels: int) -> str:
        beside = "[" + "1 " * (1_000 - 4 * levels) + "]"
        return f"{before}{opening * levels}{beside}{closing * levels}{after}"

    assert calls(nested(150)) < 1.5 * calls(nested(10))


def test_selections_within_each_other_cost_no_more_than_beside_each_other() -> None:
    nested = "{" + "... {" * 150 + "a" + "}" * 150 + "}"
    beside = "{" + "... {a}" * 150 + "}"
    assert calls(nested) < 1.5 * calls(beside)


def calls(text: str) -> int:
    """Return how many functions are called to find a document equivalent to itself."""
    document = parse(text)
    documents = EquivalentDocuments([document])
    count = 0

    def see(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        assert document in documents
    finally:
        sys.setprofile(before)
    return count
