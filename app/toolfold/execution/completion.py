"""What runs beside generated code: objects by their class, and lists of them."""

from typing import Any

from graphql import (
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    is_abstract_type,
)
from graphql.pyutils import Path

from toolfold.execution.generator import Complete, generate
from toolfold.execution.irregular import (
    IrregularError,
    NotPlainError,
    as_list,
    irregular,
    refuse_special,
)
from toolfold.execution.planning import (
    Details,
    PlannedField,
    PlannedObject,
    plan_object,
)
from toolfold.execution.run import Run

OBJECTS_BETWEEN_LOOKS = 256
"""How many objects of a list are completed between looks at the clock."""

MAX_CLASSES = 64


class ObjectCompleter:
    """Completes objects of one field, each by the function that was generated for its class."""

    def __init__(
        self, output_type: GraphQLOutputType, details: Details, planned: PlannedObject | None
    ) -> None:
        self._type: Any = output_type
        self._details = details
        self._planned = planned
        self.by_class: dict[type, Complete] = {}

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
        if len(self.by_class) >= MAX_CLASSES:
            # Classes are made for sets of columns, and not for ever.
            self.by_class.clear()
        try:
            planned = self._planned or self._plan(sample, run)
            complete = generate(planned, sample, run, make_completer)
        except NotPlainError as error:
            self.by_class[type(sample)] = irregular
            raise IrregularError from error
        self.by_class[type(sample)] = complete
        return complete

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
            if len(set(map(type, stretch))) == 1 and stretch[0] is not None:
                # As good as always they are of one class, which need not be looked up for each.
                complete = find(type(stretch[0])) or generate(stretch[0], run)
                completed += [
                    complete(value, run, path, index) for index, value in enumerate(stretch, start)
                ]
                continue
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
