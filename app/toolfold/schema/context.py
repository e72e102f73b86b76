"""What a resolver finds in `info.context`: the operation, made anew for each.

Over WebSocket one context object serves all operations of a socket, so what belongs to one
operation (ledger, loaders) is made when it begins, never with the request.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import strawberry
from strawberry.extensions import SchemaExtension

from toolfold.events import Events
from toolfold.feed.shared import SharedReads
from toolfold.ingest.acp_stream import Streams
from toolfold.loaders import Loaders
from toolfold.readable_stream.places import KnownTexts
from toolfold.schema.guard import Ledger
from toolfold.settings import Settings
from toolfold.store.engine import Database


@dataclass(frozen=True, slots=True)
class Resources:
    """What outlives an operation: the context value to execute a document with."""

    settings: Settings
    database: Database
    events: Events = field(default_factory=Events)
    """Whoever writes publishes here, after the commit."""
    streams: Streams = field(default_factory=Streams)
    """What is open in the sessions that are being recorded."""
    reads: SharedReads = field(default_factory=SharedReads)
    """What those who follow sessions read together."""
    texts: KnownTexts = field(default_factory=KnownTexts)
    """Where the texts of large contents can be read on from."""


@dataclass(slots=True)
class Operation:
    """One operation's own state; a subscription's is that of the event being told."""

    resources: Resources
    ledger: Ledger
    loaders: Loaders
    selected: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What was found out about the selection; a query that is asked again has it from the start."""
    ahead: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """Pages of messages that were read with their session; see `session_messages`."""
    ends_at: float = field(default=0.0, init=False)
    """When its time is up, by the monotonic clock."""

    def __post_init__(self) -> None:
        self._set_the_clock()

    def _set_the_clock(self) -> None:
        self.ends_at = time.monotonic() + self.settings.query_seconds

    @classmethod
    def begin(cls, resources: Resources) -> "Operation":
        """Return the state of an operation that has read nothing yet."""
        return cls(resources, Ledger(resources.settings), Loaders(resources.database))

    def begin_event(self) -> None:
        """Forget what the event before has read and been charged: its selection stays the same.

        graphql-core executes every event of a subscription with one context value, one after
        the other.
        """
        self.ledger = Ledger(self.settings)
        self.renew_loaders()
        self._set_the_clock()

    def renew_loaders(self) -> None:
        """Forget what was read: after a write it may no longer be so."""
        self.loaders.end()
        self.loaders = Loaders(self.database)

    def end(self) -> None:
        """Stop what is still being read, for a field that is no longer in the response."""
        self.loaders.end()

    @property
    def settings(self) -> Settings:
        """The settings under which the operation runs."""
        return self.resources.settings

    @property
    def database(self) -> Database:
        """The database that the operation reads."""
        return self.resources.database


Info = strawberry.Info[Operation, None]


class OperationScope(SchemaExtension):
    """Gives each operation its own state, and tells what its heavy fields came to."""

    def on_operation(self) -> Iterator[None]:
        """Replace the resources that the caller gave by an operation over them."""
        given = self.execution_context.context
        resources = given.resources if isinstance(given, Operation) else given
        operation = self.execution_context.context = Operation.begin(resources)
        try:
            yield
        finally:
            operation.end()

    def get_results(self) -> dict[str, Any]:
        """Return the extensions of the operation's result."""
        operation = self.execution_context.context
        return extensions_of(operation) if isinstance(operation, Operation) else {}


def extensions_of(operation: Operation) -> dict[str, Any]:
    """Return the extensions of an operation's result: `contentBudget` if it met a heavy field."""
    ledger = operation.ledger
    if not ledger.heavy_asked:
        return {}
    return {
        "contentBudget": {
            "compactBudgetBytes": ledger.settings.compact_budget_bytes,
            "contentBudgetBytes": ledger.settings.content_budget_bytes,
            "requestedBytes": ledger.requested_bytes,
            "deliveredBytes": ledger.delivered_bytes,
            "omittedCount": ledger.omitted_count,
        }
    }
