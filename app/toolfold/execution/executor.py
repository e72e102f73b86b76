"""graphql-core's executor, which completes what is plain by generated functions.

It takes over where a list or an object is completed, and gives back whatever is irregular, to be
completed from the beginning. So nothing here makes an error, a path in a response, or a null in
the place of an error.
"""

import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphql import GraphQLObjectType, GraphQLResolveInfo
from graphql.pyutils import Path
from graphql.type import GraphQLResolveInfoHelpers
from strawberry.schema import Schema
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from toolfold.execution.planning import Details
from toolfold.execution.plans import Completer, Plans
from toolfold.execution.run import Run


class CompilingExecutor(StrawberryGraphQLCoreExecutionContext):
    """An execution context for `strawberry.Schema`."""

    plans = Plans()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # graphql-core's are methods of this very executor. Such a cycle would keep all that an
        # operation has read until the garbage collector comes by.
        this = weakref.proxy(self)
        self.async_helpers = GraphQLResolveInfoHelpers(
            gather=lambda values: this.gather_async_work(values),  # noqa: PLW0108 - a method would hold it.
            track=lambda values: this.track_async_work(values),  # noqa: PLW0108 - as well.
        )

    @property
    def strawberry_schema(self) -> Schema:
        """Strawberry's side of the schema."""
        schema: Schema = self.schema._strawberry_schema  # type: ignore[attr-defined]  # noqa: SLF001 - Strawberry sets it for its own Info.
        return schema

    def time_is_up(self) -> bool:
        """Say whether a long list should not go on; graphql-core then gets to tell."""
        return False

    def build_per_event_executor(self, payload: Any) -> Any:
        """Return the executor of one event of a subscription.

        graphql-core's share what they remember of selections, under lists that each event makes
        anew: it would grow with every event for as long as the subscription lasts.
        """
        executor = super().build_per_event_executor(payload)
        executor._relevant_sub_fields = {}  # noqa: SLF001 - graphql-core has no other way to it.
        return executor

    def complete_list_value(
        self,
        return_type: Any,
        field_details_list: Details,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> Any:
        """Complete a list."""
        standard = partial(
            super().complete_list_value,
            return_type,
            field_details_list,
            info,
            path,
            result,
            position_context,
        )
        count = len(result) if type(result) is list or type(result) is tuple else 0
        completer = self._completer(return_type, field_details_list, count)
        if completer is None or position_context is not None:
            return standard()
        return self._complete(completer, result, Run(self, info), path, standard)

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_details_list: Details,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> Any:
        """Complete an object."""
        standard = partial(
            super().complete_object_value,
            return_type,
            field_details_list,
            info,
            path,
            result,
            position_context,
        )
        completer = self._completer(return_type, field_details_list, 1)
        if completer is None or position_context is not None:
            return standard()
        return self._complete(completer, result, Run(self, info), path, standard)

    def _completer(self, return_type: Any, details: Details, count: int) -> Completer | None:
        """Return what completes `count` objects; None if graphql-core is to."""
        middleware = self.middleware_manager
        if (
            not count
            or self.abort_signal is not None
            or (middleware is not None and middleware.middlewares)
        ):
            return None
        return self.plans.find(self, return_type, details, count)

    def _complete(
        self, completer: Completer, value: Any, run: Run, path: Path, standard: Callable[[], Any]
    ) -> Any:
        try:
            completed = completer.complete(value, run, path, None)
        except Exception:  # noqa: BLE001 - whatever it is, graphql-core meets it again and tells.
            return standard()
        return _WhenLoaded(self, run, completed, standard) if run.loading else completed


@dataclass(frozen=True, slots=True)
class _WhenLoaded:
    """What is completed when what it waits for has come.

    No coroutine before it is awaited: graphql-core awaits nothing beside a field that has failed.
    """

    executor: CompilingExecutor
    run: Run
    completed: Any
    standard: Callable[[], Any]

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._value().__await__()

    async def _value(self) -> Any:
        try:
            await self.run.wait()
        except Exception:  # noqa: BLE001 - as above; what has been read is not read again.
            again = self.standard()
            return await again if self.executor.is_awaitable(again) else again
        return self.completed
