"""The GraphQL schema: one module per concept, and the guard that all of them obey.

Execute documents over it with a `toolfold.schema.context.Resources` as the context value.
"""

from strawberry.schema.config import StrawberryConfig

from toolfold.schema.caches import CachedDocuments, DocumentCaches
from toolfold.schema.context import OperationScope
from toolfold.schema.deadline import Deadline
from toolfold.schema.events import EventExecutor, EventSchema
from toolfold.schema.limits import DocumentLimits
from toolfold.schema.mutation.root import Mutation
from toolfold.schema.mutation.user_errors import TYPES as ERROR_TYPES
from toolfold.schema.operation_choice import OperationChoice
from toolfold.schema.query import Query
from toolfold.schema.scalars import SCALARS
from toolfold.schema.subscription import Subscription


def build_schema(documents: DocumentCaches | None = None) -> EventSchema:
    """Return a schema with caches of its own, or with these; one is enough for a process."""
    caches = documents or DocumentCaches()
    schema = EventSchema(
        query=Query,
        subscription=Subscription,
        execution_context_class=EventExecutor,
        mutation=Mutation,
        types=ERROR_TYPES,
        # Their order is that of a request: its state first, then what may refuse it.
        extensions=[
            OperationScope,
            DocumentLimits,
            OperationChoice,
            lambda: CachedDocuments(caches),
            Deadline,
        ],
        config=StrawberryConfig(scalar_map=SCALARS),
    )
    schema.documents = caches
    return schema
