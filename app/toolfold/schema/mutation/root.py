"""The roots of a mutation."""

import strawberry

from toolfold.schema.mutation.acp import AcpMutations
from toolfold.schema.mutation.messages import MessageMutations
from toolfold.schema.mutation.projects import ProjectMutations
from toolfold.schema.mutation.sessions import SessionMutations


@strawberry.type(
    description=(
        "What can be written. A mutation does all that it was asked or nothing; what keeps it from "
        "it is in `errors`. `clientMutationId` comes back as it was sent."
    )
)
class Mutation(ProjectMutations, SessionMutations, MessageMutations, AcpMutations):
    """The mutation root."""
