"""From a statement of Core's to what its driver is given, without what Core does at each execution.

Core compiles a statement once and remembers it by its structure; here it is remembered by the very
statement, since to look a structure up takes as long as to read ten rows.
"""

# ruff: noqa: SLF001 - what Core makes of a statement has no public names. Its version is pinned, and
# the store's tests compare both ways.

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection

from toolfold.store.packing import can_pack

Process = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a compiled statement needs beside its parameters.

    `row` makes a row of a sequence of values; `processed` are the positions of the columns whose
    values the driver does not give as their types have them. As many `columns` can be packed; 0 if
    they cannot.
    """

    row: Callable[[Any], Any]
    processed: tuple[tuple[int, Process], ...]
    columns: int

    def rows(self, found: Any, make: Callable[[Iterable[Any]], Any] | None) -> Any:
        """Return the rows of the values that the driver found, or what `make` makes of them."""
        values = map(self._values, found) if self.processed else found
        return list(map(self.row, values)) if make is None else make(values)

    def _values(self, values: Any) -> list[Any]:
        processed = list(values)
        for position, process in self.processed:
            processed[position] = process(processed[position])
        return processed


_plans: WeakKeyDictionary[Any, Plan] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class _Ready:
    """A statement as it goes to the driver whenever values of the same names are given."""

    plan: Plan
    sql: str
    order: tuple[str, ...]
    processors: Mapping[str, Process]
    given: frozenset[str]
    own: Mapping[str, Any]
    """The values that are part of the statement."""

    def values(self, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
        named = {**self.own, **parameters}
        for name, process in self.processors.items():
            named[name] = process(named[name])
        return tuple([named[name] for name in self.order])


# By dialect and by the very statement. Nothing in it refers to the statement.
_ready: WeakKeyDictionary[Any, WeakKeyDictionary[Any, _Ready]] = WeakKeyDictionary()


def prepared(core: Connection, statement: Any, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a statement needs, its SQL, and its values in their order, as Core has them."""
    known = _ready.setdefault(core.dialect, WeakKeyDictionary())
    ready = known.get(statement)
    if ready is not None and ready.given == parameters.keys():
        return ready.plan, ready.sql, ready.values(parameters)
    compiled, extracted, collected, _ = statement._compile_w_cache(
        core.dialect,
        compiled_cache=core.engine._compiled_cache,
        column_keys=sorted(parameters),
    )
    named = compiled.construct_params(
        dict(parameters),
        extracted_parameters=extracted,
        escape_names=False,
        _collected_params=collected,
    )
    plan = _plan(compiled, core)
    sql, order, processors = compiled.string, compiled.positiontup, compiled._bind_processors
    if compiled.post_compile_params or compiled.literal_execute_params:
        # Such as a list in an IN, of which the SQL has a place for each value.
        state = compiled._process_parameters_for_postcompile(named)
        sql, order, named = state.statement, state.positiontup, state.parameters
        processors = {**processors, **state.processors}
    else:
        given = frozenset(parameters)
        own = {name: value for name, value in named.items() if name not in given}
        used = {name: one for name, one in processors.items() if name in named}
        known[statement] = _Ready(plan, sql, tuple(order), used, given, own)
    values = [
        processors[name](named[name]) if name in processors else named[name] for name in order
    ]
    return plan, sql, tuple(values)


def _plan(compiled: Any, core: Connection) -> Plan:
    plan = _plans.get(compiled)
    if plan is None:
        columns = compiled._result_columns
        processors = (
            (position, column.type.dialect_impl(core.dialect).result_processor(core.dialect, None))
            for position, column in enumerate(columns)
        )
        names = tuple(column.keyname for column in columns)
        processed = tuple((position, one) for position, one in processors if one is not None)
        can = not processed and can_pack([column.type for column in columns])
        plan = _plans[compiled] = Plan(_row_of(names), processed, len(columns) if can else 0)
    return plan


@lru_cache(maxsize=512)
def _row_of(names: tuple[str, ...]) -> Callable[[Any], Any]:
    # mypy and typing.NamedTuple want literal names.
    row_type = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024
    return partial(tuple.__new__, row_type)
