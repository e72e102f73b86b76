"""One completion by generated code: what it needs of its executor, and what it waits for."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphql import GraphQLResolveInfo
from graphql.pyutils import Path

from toolfold.execution.plain import Loading
from toolfold.execution.planning import Call

if TYPE_CHECKING:
    from toolfold.execution.executor import CompilingExecutor

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
            # Equal keys have one future.
            futures = {id(one[2].future): one[2].future for one in waiting}
            results = dict(zip(futures, await _results(list(futures.values())), strict=True))
            values = await _values([(one[2], results[id(one[2].future)]) for one in waiting])
            for (target, key, _, complete, path), value in zip(waiting, values, strict=True):
                target[key] = complete(value, self, path)


async def _results(futures: list[asyncio.Future[Any]]) -> list[Any]:
    """Return the results of futures, none of which is cancelled if this is: others share them."""
    for one in futures:
        # What was read ahead is there without a turn of the event loop, and with the first of a
        # batch come all: to wait for each by itself would take a turn for each.
        if not one.done():
            await asyncio.wait((one,))
        if one.cancelled() or one.exception() is not None:
            break
    try:
        # If one has failed, others may not be done.
        for one in filter(asyncio.Future.done, futures):
            one.result()
    except Exception:
        for one in futures:
            one.add_done_callback(_retrieve)
        raise
    return [one.result() for one in futures]


def _retrieve(future: asyncio.Future[Any]) -> None:
    """See an error that nobody may ask for any more, and that is no news."""
    if not future.cancelled():
        future.exception()


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
