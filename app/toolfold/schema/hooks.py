"""The hooks of extensions, found once for each class.

Strawberry looks for them and makes context managers' factories of them in each operation, which
takes as long as to read a message. What they do, and in which order, is its own.
"""

import contextlib
import inspect
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import strawberry
from strawberry.extensions import SchemaExtension
from strawberry.extensions.context import (
    ExecutingContextManager,
    ExtensionContextManagerBase,
    OperationContextManager,
    ParsingContextManager,
    ValidationContextManager,
    WrappedHook,
)
from strawberry.extensions.runner import SchemaExtensionsRunner
from strawberry.types import ExecutionContext

from toolfold.schema.resolvers import shorten


class HookedSchema(strawberry.Schema):
    """A schema that remembers which hooks its extensions have, and calls resolvers directly."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        shorten(self._schema, self.config)

    def create_extensions_runner(
        self, execution_context: ExecutionContext, extensions: list[SchemaExtension]
    ) -> SchemaExtensionsRunner:
        """Return what runs the extensions of one operation."""
        return _Runner(execution_context, extensions)


class _KnownHooks(ExtensionContextManagerBase):
    def get_hook(self, extension: SchemaExtension) -> WrappedHook | None:
        kind: Any = type(extension)
        found = _hook(kind, self.HOOK_NAME)
        if found is None:
            return None
        begin, is_async = found
        if begin is None:
            return super().get_hook(extension)
        return WrappedHook(extension, partial(begin, extension), is_async)


class _Operation(_KnownHooks, OperationContextManager):
    pass


class _Parsing(_KnownHooks, ParsingContextManager):
    pass


class _Validation(_KnownHooks, ValidationContextManager):
    pass


class _Executing(_KnownHooks, ExecutingContextManager):
    pass


class _Runner(SchemaExtensionsRunner):
    def operation(self) -> OperationContextManager:
        return _Operation(self.extensions)

    def parsing(self) -> ParsingContextManager:
        return _Parsing(self.extensions)

    def validation(self) -> ValidationContextManager:
        return _Validation(self.extensions)

    def executing(self) -> ExecutingContextManager:
        return _Executing(self.extensions)


@lru_cache(maxsize=64)
def _hook(extension_class: Any, name: str) -> tuple[Callable[..., Any] | None, bool] | None:
    """Return what begins a hook, and whether it is asynchronous; None if there is none.

    None begins those that are no generators, which are left to Strawberry.
    """
    hook = getattr(extension_class, name)
    if hook is getattr(SchemaExtension, name):
        return None
    if inspect.isgeneratorfunction(hook):
        return contextlib.contextmanager(hook), False
    if inspect.isasyncgenfunction(hook):
        return contextlib.asynccontextmanager(hook), True
    return None, False
