"""From a plan and a class of objects to a Python function that completes one such object.

A generated function takes the object, the `Run` that it belongs to, the path of the field that
shows the object, and its index if that field is a list. It returns the object's part of the
response, or raises: then graphql-core completes the object, or the list, from the beginning.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, cast

from graphql import GraphQLList, GraphQLNonNull, GraphQLObjectType, is_leaf_type
from graphql.pyutils import Path

from toolfold.execution import plain
from toolfold.execution.columns import columns_of
from toolfold.execution.irregular import NotPlainError, as_list, irregular
from toolfold.execution.leaves import leaf_expression
from toolfold.execution.names import Names
from toolfold.execution.planning import Call, PlannedField, PlannedObject, TypeName
from toolfold.execution.run import Run

logger = logging.getLogger(__name__)

Complete = Callable[[Any, Any, Path | None, int | None], Any]
"""Completes a value: (value, run, path, index) to its part of the response."""

MakeCompleter = Callable[[PlannedField], Complete]
"""Makes what completes a field's object or its list of objects, whatever their class."""


def generate(
    planned: PlannedObject, sample: Any, run: Run, make_completer: MakeCompleter
) -> Complete:
    """Return the function that completes objects of the sample's class.

    Raises:
        NotPlainError: if the class is not of a type that the plan shows it as.
    """
    writer = _Writer(planned, sample, run, make_completer)
    source = writer.write()
    code = compile(source, f"<completes {planned.type.name}>", "exec")
    names = dict(writer.names.bound)
    exec(code, names)  # noqa: S102 - what a client sends is in it as string literals alone.
    logger.debug("Generated for %s:\n%s", planned.type.name, source)
    complete: Complete = names["complete"]
    return complete


class _Writer:
    """Writes one function: the object's fields, and those of the views that it shows of itself."""

    def __init__(
        self, planned: PlannedObject, sample: Any, run: Run, make_completer: MakeCompleter
    ) -> None:
        self.names = Names(Loading=plain.Loading, Path=Path, as_list=as_list, irregular=irregular)
        self._planned = planned
        self._sample = sample
        self._run = run
        self._make_completer = make_completer
        self._columns = columns_of(type(sample))
        self._used_columns: dict[str, str] = {}
        self._functions: list[str] = []
        self._lines: list[str] = []
        self._indent = 1

    def write(self) -> str:
        """Return the function's text, and that of those which complete what it has to wait for."""
        result = self._object(self._planned, "path")
        self._emit(f"return {result}")
        head = ["def complete(row, run, path, index):"]
        if self._planned.ordered:
            head.append("    if index is not None: path = Path(path, index, None)")
        if self._used_columns:
            indices = [self._columns[name] for name in self._used_columns]
            columns = self.names.of(itemgetter(*indices), "columns")
            head.append(f"    {', '.join(self._used_columns.values())} = {columns}(row)")
        return "\n".join([*self._functions, *head, *self._lines, ""])

    def _object(self, planned: PlannedObject, path: str) -> str:
        """Write what reads the fields that `planned` shows of the row; return its expression."""
        is_type_of = planned.type.is_type_of
        if is_type_of is not None and is_type_of(self._sample, self._run.field_info) is not True:
            raise NotPlainError
        parts: list[str] = []
        waiting: list[str] = []
        for field in planned.fields:
            completed = self._field(field, path, waiting)
            if self._planned.ordered and not completed.isidentifier():
                # A later field may have an effect: this one is to be refused before that.
                completed = self._let("field", completed)
            parts.append(f"{field.key!r}: {completed}")
        result = f"{{{', '.join(parts)}}}"
        if not waiting:
            return result
        result = self._let("object", result)
        for loading in waiting:
            self._emit(loading.replace("{object}", result))
        return result

    def _field(self, field: PlannedField, path: str, waiting: list[str]) -> str:
        """Write what reads a field; return the expression of its completed value.

        What it has to wait for is appended to `waiting`, as the line that registers it.
        """
        if isinstance(field.reading, TypeName):
            return repr(field.parent_type.name)
        below = f"Path({path}, {field.key!r}, {field.parent_type.name!r})"
        if field.ordered:
            below = self._let("path", below)
        if isinstance(field.reading, plain.View):
            return self._view(field, field.reading, below)
        value = self._read(field, below)
        completed = self._complete(field.type, value, field, below)
        if not (isinstance(field.reading, Call) and field.reading.info):
            return completed
        loaded = self._function_of_loaded(field)
        waiting.append(
            f"if type({value}) is Loading: "
            f"run.loading.append(({{object}}, {field.key!r}, {value}, {loaded}, {below}))"
        )
        return f"None if type({value}) is Loading else {completed}"

    def _function_of_loaded(self, field: PlannedField) -> str:
        """Write the function that completes a field's value when it has come; return its name."""
        name = self.names.local("loaded")
        completed = self._complete(field.type, "value", field, "path")
        self._functions.append(f"def {name}(value, run, path): return {completed}")
        return name

    def _view(self, field: PlannedField, view: plain.View, path: str) -> str:
        shown = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
        if field.object is None or not isinstance(shown, GraphQLObjectType):
            raise NotPlainError
        if view.unless_null is None:
            return self._object(field.object, path)
        column = self._attribute(view.unless_null)
        if shown is not field.type:
            self._emit(f"if {column} is None: irregular()")
            return self._object(field.object, path)
        result = self.names.local("view")
        with self._block(f"if {column} is not None:"):
            self._emit(f"{result} = {self._object(field.object, path)}")
        with self._block("else:"):
            self._emit(f"{result} = None")
        return result

    def _read(self, field: PlannedField, path: str) -> str:
        """Write what reads a field's value; return the local variable that has it."""
        match field.reading:
            case plain.Column(name, None):
                return self._attribute(name)
            case plain.Column(name, via):
                value = self._attribute(name)
                convert = self.names.of(via, "via")
                return self._let("value", f"None if {value} is None else {convert}({value})")
            case plain.Function(of, names):
                arguments = ", ".join([self._attribute(name) for name in names])
                return self._let("value", f"{self.names.of(of, 'function')}({arguments})")
        call = cast("Call", field.reading)
        if call.cut is not None and not call.with_variables:
            length: int = self._run.arguments(call)[call.cut.argument]
            if 0 <= length <= call.cut.most:
                value = self._attribute(call.cut.name)
                return self._let("value", f"None if {value} is None else {value}[:{length}]")
        return self._let("value", self._call(call, path))

    def _call(self, call: Call, path: str) -> str:
        given: list[str] = []
        if call.parent is not None:
            # Most resolvers take the object first, and a positional argument is the cheapest.
            given.append("row" if call.takes_parent_first else f"{call.parent}=row")
        name = self.names.of(call, "call")
        if call.info is not None:
            given.append(f"{call.info}=run.info({name}, {path})")
        if call.with_arguments and call.with_variables:
            given.append(f"**run.arguments({name})")
        elif call.with_arguments:
            given.append(f"**{self.names.of(self._run.arguments(call), 'arguments')}")
        return f"{self.names.of(call.function, 'resolve')}({', '.join(given)})"

    def _complete(self, output_type: Any, value: str, field: PlannedField, path: str) -> str:
        """Return the expression that completes the value in a local variable."""
        if isinstance(output_type, GraphQLNonNull):
            return self._complete_present(output_type.of_type, value, field, path)
        completed = self._complete_present(output_type, value, field, path)
        return f"(None if {value} is None else {completed})"

    def _complete_present(
        self, output_type: Any, value: str, field: PlannedField, path: str
    ) -> str:
        if is_leaf_type(output_type):
            return leaf_expression(output_type, value, self.names)
        if isinstance(output_type, GraphQLList) and is_leaf_type(_present(output_type.of_type)):
            item = self.names.local("item")
            completed = self._complete(output_type.of_type, item, field, path)
            return f"[{completed} for {item} in as_list({value})]"
        complete = self.names.of(self._make_completer(field), "complete")
        return f"{complete}({value}, run, {path if field.ordered else None}, None)"

    def _attribute(self, name: str) -> str:
        """Return a local variable that has an attribute of the row."""
        if name in self._columns:
            return self._used_columns.setdefault(name, f"column_{name}")
        return self._let("value", f"row.{name}")

    def _let(self, kind: str, expression: str) -> str:
        name = self.names.local(kind)
        self._emit(f"{name} = {expression}")
        return name

    def _emit(self, line: str) -> None:
        self._lines.append("    " * self._indent + line)

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        self._emit(head)
        self._indent += 1
        yield
        self._indent -= 1


def _present(output_type: Any) -> Any:
    return output_type.of_type if isinstance(output_type, GraphQLNonNull) else output_type
