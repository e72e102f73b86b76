"""Random documents that are valid over a schema."""

import random
from collections.abc import Iterator
from zlib import crc32

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    parse,
    validate,
)

VARIABLES = {"a": "Boolean!", "b": "Boolean! = true", "c": "Boolean = false", "n": "Int! = 7"}
"""What a document may refer to, with its type; `c` may be null or left out."""

# They read a database of their own accord, or are charged each time that they are resolved.
_LEFT_OUT = {
    "messages", "sessions", "children", "contentBreakdown",
    "contentSlice", "contentLines", "contentFind", "contentText", "slice",
}  # fmt: skip
_MAX_DEPTH = 7
_MAX_SELECTIONS = 40


class Documents:
    """Makes documents; the same ones from the same seed."""

    def __init__(self, schema: GraphQLSchema, seed: int) -> None:
        self._schema = schema
        self._random = random.Random(seed)  # noqa: S311 - not for secrets.
        self._fragments: dict[str, str] = {}
        self._left = 0

    def __iter__(self) -> Iterator[str]:
        """Yield documents without end."""
        while True:
            document = self._document()
            if not validate(self._schema, parse(document)):
                yield document

    def _document(self) -> str:
        self._fragments = {}
        query = self._schema.query_type
        assert query is not None
        roots = [self._root(query) for _ in range(self._random.randint(1, 3))]
        body = " ".join(roots)
        text = " ".join([body, *self._fragments.values()])
        used = [f"${name}: {kind}" for name, kind in VARIABLES.items() if f"${name}" in text]
        head = f"query Q({', '.join(used)})" if used else "query Q"
        return f"{head} {{ {body} }} {' '.join(self._fragments.values())}"

    def _root(self, query: GraphQLObjectType) -> str:
        self._left = self._random.randint(5, _MAX_SELECTIONS)
        if self._random.random() < 0.1:
            return self._selection(query, 0)
        name = self._random.choice(list(query.fields))
        below = get_named_type(query.fields[name].type)
        alias = self._random.choice(["", f"again_{name}: "])
        return f"{alias}{name} {{ {self._selections(below, 1)} }}"

    def _selections(self, shown: GraphQLNamedType, depth: int) -> str:
        parts = [self._selection(shown, depth), *self._leaves(shown)]
        more = self._random.randint(0, 9)
        parts.extend(self._selection(shown, depth) for _ in range(more) if self._left > 0)
        return " ".join(parts)

    def _leaves(self, shown: GraphQLNamedType) -> list[str]:
        """Return many fields at once, at times: each row is then worth more."""
        fields: dict[str, GraphQLField] = getattr(shown, "fields", {})
        leaves = [name for name, one in fields.items() if is_leaf_type(get_named_type(one.type))]
        leaves = [name for name in leaves if name not in _LEFT_OUT]
        if self._random.random() < 0.5:
            return []
        return self._random.sample(leaves, self._random.randint(0, len(leaves)))

    def _selection(self, shown: GraphQLNamedType, depth: int) -> str:
        self._left -= 1
        chance = self._random.random()
        if self._left < 0:
            return self._field(shown, _MAX_DEPTH)
        if is_abstract_type(shown) and chance < 0.8:
            member = self._random.choice(self._schema.get_possible_types(shown))
            return self._inline(member, depth)
        if chance < 0.1:
            return self._inline(shown, depth)
        if chance < 0.2 and depth < _MAX_DEPTH:
            return self._spread(shown, depth)
        return self._field(shown, depth)

    def _inline(self, shown: GraphQLNamedType, depth: int) -> str:
        return f"... on {shown.name} {self._directives()} {{ {self._selections(shown, depth)} }}"

    def _spread(self, shown: GraphQLNamedType, depth: int) -> str:
        name = f"F{self._random.randint(1, 2)}_{shown.name}"
        if name not in self._fragments:
            self._fragments[name] = ""  # So that it does not spread itself.
            body = self._selections(shown, max(depth + 1, _MAX_DEPTH - 2))
            self._fragments[name] = f"fragment {name} on {shown.name} {{ {body} }}"
        elif not self._fragments[name]:
            return "__typename"
        return f"...{name} {self._directives()}"

    def _field(self, shown: GraphQLNamedType, depth: int) -> str:
        fields = {
            name: field
            for name, field in getattr(shown, "fields", {}).items()
            if name not in _LEFT_OUT
            and (depth < _MAX_DEPTH or is_leaf_type(get_named_type(field.type)))
        }
        if not fields or self._random.random() < 0.1:
            return f"{self._random.choice(['', 'kind_of: '])}__typename {self._directives()}"
        name = self._random.choice(list(fields))
        field = fields[name]
        alias = ""
        arguments = self._arguments(field)
        if arguments or self._random.random() < 0.3:
            # Of another name for other arguments and in other types: equal names must agree.
            suffix = crc32(arguments.encode()) if arguments else self._random.randint(1, 2)
            alias = f"{shown.name}_{name}_{suffix}: "
        named = get_named_type(field.type)
        below = "" if is_leaf_type(named) else f" {{ {self._selections(named, depth + 1)} }}"
        return f"{alias}{name}{arguments} {self._directives()}{below}"

    def _arguments(self, field: GraphQLField) -> str:
        given = [
            f"{name}: {self._argument(argument)}"
            for name, argument in field.args.items()
            if self._random.random() < 0.5
        ]
        return f"({', '.join(given)})" if given else ""

    def _argument(self, argument: GraphQLArgument) -> str:
        assert get_named_type(argument.type).name == "Int"
        return self._random.choice(["0", "1", "5", "280", "281", "-1", "$n"])

    def _directives(self) -> str:
        if self._random.random() < 0.8:
            return ""
        condition = self._random.choice(["true", "false", "$a", "$a", "$b", "$b", "$c"])
        name = self._random.choice(["skip", "include"])
        both = " @include(if: $b)" if name == "skip" and self._random.random() < 0.2 else ""
        return f"@{name}(if: {condition}){both}"
