"""Which operation of a document is executed: never a guess."""

from collections.abc import Iterator

from graphql import GraphQLError, OperationDefinitionNode
from strawberry.extensions import SchemaExtension


class OperationChoice(SchemaExtension):
    """Refuses a document of several operations of which none was chosen (GraphQL, 6.1).

    Strawberry would execute the first.
    """

    def on_validate(self) -> Iterator[None]:
        """Look at documents that nothing has refused yet."""
        context = self.execution_context
        document = context.graphql_document
        # Strawberry's public `operation_name` is already its guess.
        chosen = context._provided_operation_name  # noqa: SLF001
        if chosen is None and document is not None and context.pre_execution_errors is None:
            definitions = document.definitions
            operations = [node for node in definitions if isinstance(node, OperationDefinitionNode)]
            if len(operations) > 1:
                message = "The document has several operations: name one in `operationName`."
                context.pre_execution_errors = [GraphQLError(message, operations)]
        yield
