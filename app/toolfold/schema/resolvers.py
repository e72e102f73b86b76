"""Resolvers called as directly as their arguments allow.

Strawberry looks at every argument's type in each call, and wraps each call in those of a field's
extensions. Where there are none, and what is given are scalars and enums, which graphql-core has
converted, there is nothing to be done but to call. Whatever is given beside goes Strawberry's way.
"""

from typing import Any

from graphql import GraphQLField, GraphQLObjectType, GraphQLSchema, get_nullable_type, is_leaf_type
from strawberry.schema.config import StrawberryConfig
from strawberry.types.field import StrawberryField


def shorten(schema: GraphQLSchema, config: StrawberryConfig) -> None:
    """Replace the resolvers of a schema's queries and mutations by ones that do the same."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLObjectType) and kind is not schema.subscription_type:
            for definition in kind.fields.values():
                field = definition.extensions.get("strawberry-definition")
                if isinstance(field, StrawberryField) and not field.extensions:
                    definition.resolve = _direct(definition, field, config)


def _direct(
    definition: GraphQLField,
    field: StrawberryField,
    config: StrawberryConfig,
) -> Any:
    otherwise: Any = definition.resolve
    resolver = field.base_resolver
    if resolver is None:
        return otherwise
    function: Any = resolver.wrapped_func
    info_class = config.info_class
    names = {
        config.name_converter.from_argument(argument): argument.python_name
        for argument in field.arguments
    }
    to_convert = [
        name
        for name, argument in definition.args.items()
        if not is_leaf_type(get_nullable_type(argument.type))
    ]
    takes_self = resolver.self_parameter is not None
    parents = [
        parameter.name
        for parameter in (resolver.parent_parameter, resolver.root_parameter)
        if parameter is not None
    ]
    info_name = None if resolver.info_parameter is None else resolver.info_parameter.name

    def resolve(source: Any, info: Any, **given: Any) -> Any:
        for name in to_convert:
            if given.get(name) is not None:
                return otherwise(source, info, **given)
        arguments = {names[name]: value for name, value in given.items()}
        for name in parents:
            arguments[name] = source
        if info_name is not None:
            arguments[info_name] = info_class(_raw_info=info, _field=field)
        return function(source, **arguments) if takes_self else function(**arguments)

    return resolve
