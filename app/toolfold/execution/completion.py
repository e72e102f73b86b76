"""What runs beside generated code: objects by their class, lists, and what is waited for."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    is_abstract_type,
)
from graphql.pyutils import Path

from toolfold.execution.generator import Complete, Generated, generate
from toolfold.execution.irregular import (
    IrregularError,
    NotPlainError,
    as_list,
    refuse_special,
)
from toolfold.execution.plain import Loading
from toolfold.execution.planning import (
    Call,
    Details,
    PlannedField,
    PlannedObject,
    plan_object,
)

if TYPE_CHECKING:
    from toolfold.execution.executor import CompilingExecutor

OBJECTS_BETWEEN_LOOKS = 256
"""How many objects of a list are completed between looks at the clock."""

MAX_CLASSES = 64

Loaded = Callable[[Any, "Run", Path], Any]


class Run:
    """One completion by generated code: of a list, or of an object."""

    __slots__ = ("_arguments", "executor", "field_info", "loading")

    def __init__(self, executor: "CompilingExecutor", field_info: GraphQLResolveInfo[Any]) -> None:
        self.executor = executor
        self.field_info = field_info
        self.loading: list[tuple[dict[str, Any], str, Loading, Loaded, Path]] = []
        """What has been begun: the object and key that it is for, and what completes it."""
        self._arguments: dict[Call, dict[str, Any]] = {}

    def info(self, call: Call, path: Path) -> Any:
        """Return the `info` of a resolver's call."""
        raw = self.executor.build_resolve_info(call.definition, call.nodes, call.parent_type, path)
        return self.executor.strawberry_schema.config.info_class(_raw_info=raw, _field=call.field)

    def arguments(self, call: Call) -> dict[str, Any]:
        """Return the arguments of a field, which are the same for all objects."""
        known = self._arguments.get(call)
        if known is None:
            known = self._arguments[call] = call.arguments(self.executor)
        return known

    async def wait(self) -> None:
        """Wait for what has been begun, and complete it in its place.

        Raises:
            Exception: whatever a loader failed with, or a value is irregular with.
        """
        while self.loading:
            waiting, self.loading = self.loading, []
            # Equal keys have one future. Together they are cancelled, and with them the reading.
            futures = {id(one[2].future): one[2].future for one in waiting}
            results = dict(zip(futures, await asyncio.gather(*futures.values()), strict=True))
            values = await _values([(one[2], results[id(one[2].future)]) for one in waiting])
            for (target, key, _, complete, path), value in zip(waiting, values, strict=True):
                target[key] = complete(value, self, path)


async def _values(pairs: list[tuple[Loading, Any]]) -> list[Any]:
    """Return what each `Loading` makes of its result; what takes long is made in one thread."""
    long = [index for index, (loading, result) in enumerate(pairs) if loading.is_long(result)]

    def make() -> dict[int, Any]:
        return {index: pairs[index][0].via(pairs[index][1]) for index in long}

    made = await asyncio.to_thread(make) if long else {}
    return [
        loading.accepted(made[index] if index in made else loading.via(result))
        for index, (loading, result) in enumerate(pairs)
    ]


class ObjectCompleter:
    """Completes objects of one field, each by the function that was generated for its class."""

    def __init__(
        self, output_type: GraphQLOutputType, details: Details, planned: PlannedObject | None
    ) -> None:
        self._type: Any = output_type
        self._details = details
        self._planned = planned
        self.by_class: dict[type, Complete] = {}
        self.generated: list[Generated] = []

    def complete(self, value: Any, run: Run, path: Path | None, index: int | None) -> Any:
        """Complete an object."""
        complete = self.by_class.get(type(value)) or self.generate(value, run)
        return complete(value, run, path, index)

    def generate(self, sample: Any, run: Run) -> Complete:
        """Return a new function for objects of the sample's class.

        A class is asked once which type shows it, and not each of its objects.

        Raises:
            IrregularError: if they cannot be completed by one.
        """
        refuse_special(sample)
        try:
            planned = self._planned or self._plan(sample, run)
            generated = generate(planned, sample, make_completer)
        except NotPlainError as error:
            raise IrregularError from error
        if len(self.by_class) >= MAX_CLASSES:
            # Classes are made for sets of columns, and not for ever.
            self.by_class.clear()
            self.generated.clear()
        self.by_class[type(sample)] = generated.function
        self.generated.append(generated)
        return generated.function

    def _plan(self, sample: Any, run: Run) -> PlannedObject:
        executor = run.executor
        resolve_type = self._type.resolve_type or executor.type_resolver
        name = resolve_type(sample, run.field_info, self._type)
        object_type = executor.schema.get_type(name) if isinstance(name, str) else None
        if not isinstance(object_type, GraphQLObjectType):
            raise IrregularError
        if not executor.schema.is_sub_type(self._type, object_type):
            raise IrregularError
        return plan_object(executor, object_type, self._details)


class ListCompleter:
    """Completes lists of objects."""

    def __init__(self, objects: ObjectCompleter, *, with_nulls: bool) -> None:
        self.objects = objects
        self._with_nulls = with_nulls

    def complete(self, values: Any, run: Run, path: Path | None, _: int | None) -> list[Any]:
        """Complete a list.

        Raises:
            IrregularError: if its time is up, which graphql-core is then to find.
        """
        values = as_list(values)
        find = self.objects.by_class.get
        generate = self.objects.generate
        completed: list[Any] = []
        for start in range(0, len(values), OBJECTS_BETWEEN_LOOKS):
            if run.executor.time_is_up():
                raise IrregularError
            stretch = values[start : start + OBJECTS_BETWEEN_LOOKS]
            for index, value in enumerate(stretch, start):
                if value is None and self._with_nulls:
                    completed.append(None)
                else:
                    complete = find(type(value)) or generate(value, run)
                    completed.append(complete(value, run, path, index))
        return completed


def make_completer(field: PlannedField) -> Complete:
    """Return what completes a field's objects or lists of objects.

    Raises:
        NotPlainError: for lists of lists, which no schema of ours has.
    """
    return completer_of(field.type, field.details, field.object).complete


def completer_of(
    output_type: Any, details: Details, planned: PlannedObject | None
) -> ObjectCompleter | ListCompleter:
    """As `make_completer`, by the type of what is completed; a null is not its concern.

    Raises:
        NotPlainError: as well.
    """
    bare = output_type.of_type if isinstance(output_type, GraphQLNonNull) else output_type
    if not isinstance(bare, GraphQLList):
        return ObjectCompleter(bare, details, planned)
    item_type = bare.of_type
    with_nulls = not isinstance(item_type, GraphQLNonNull)
    item_type = item_type if with_nulls else item_type.of_type
    if not isinstance(item_type, GraphQLObjectType) and not is_abstract_type(item_type):
        raise NotPlainError
    return ListCompleter(ObjectCompleter(item_type, details, planned), with_nulls=with_nulls)
