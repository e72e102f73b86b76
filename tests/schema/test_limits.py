"""What a document may ask, measured in one pass."""

import pytest
from graphql import get_introspection_query, parse

from toolfold.errors import DocumentLimitError
from toolfold.schema.limits import Measure, check, measure
from toolfold.settings import Settings


def test_depth_counts_fields_down_to_the_leaf() -> None:
    assert measure(parse("{ a { b { c } } d }")) == Measure(depth=3, aliases=0, selections=4)


def test_fragments_count_where_they_are_spread() -> None:
    document = "{ a { ...F } b { ...F } } fragment F on T { x: c { d } ... on U { e } }"
    assert measure(parse(document)) == Measure(depth=3, aliases=2, selections=8)


def test_the_standard_introspection_query_has_exactly_the_depth_that_is_allowed() -> None:
    document = parse(get_introspection_query(descriptions=True))
    assert measure(document).depth == Settings().max_depth
    check(document, Settings())


def test_fragments_that_double_at_each_step_are_measured_in_linear_time() -> None:
    steps = 200
    fragments = "".join(f"fragment F{n} on T {{ ...F{n + 1} ...F{n + 1} }} " for n in range(steps))
    document = parse(f"{{ ...F0 }} {fragments} fragment F{steps} on T {{ a }}")
    assert measure(document).selections == 2**steps


def test_fragments_that_nest_without_end_are_refused() -> None:
    fragments = "".join(f"fragment F{n} on T {{ ...F{n + 1} }} " for n in range(5_000))
    with pytest.raises(DocumentLimitError, match="nested too deeply"):
        check(parse(f"{{ ...F0 }} {fragments} fragment F5000 on T {{ a }}"), Settings())


def test_a_fragment_that_spreads_itself_is_left_to_validation() -> None:
    assert measure(parse("{ ...F } fragment F on T { a ...F }")).selections == 1


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("{" + "a{" * 15 + "b" + "}" * 15 + "}", "depth"),
        ("{" + "".join(f"a{n}: a " for n in range(31)) + "}", "aliases"),
        ("{" + "a " * 501 + "}", "selections"),
    ],
)
def test_a_document_over_a_limit_is_refused_by_the_limits_name(document: str, name: str) -> None:
    with pytest.raises(DocumentLimitError, match=name):
        check(parse(document), Settings())
