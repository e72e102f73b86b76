"""What is heavy in a session: told from stored sizes, so that looking costs no content."""

from typing import Any

import strawberry

from toolfold.errors import BadUserInputError
from toolfold.schema.context import Info
from toolfold.schema.enums import ToolKind
from toolfold.schema.global_id import encode
from toolfold.schema.rows import SessionRow
from toolfold.schema.scalars import BigInt
from toolfold.store import breakdown

MAX_LISTED = 100


@strawberry.type(
    description=(
        "What the calls of one tool store, in bytes. Calls are told apart by the tool's name and "
        "kind, since not every agent names its tools."
    )
)
class ToolSizes:
    """A view of the store's value."""

    name: str | None = strawberry.field(description="The tool's name as the agent gave it.")
    kind: ToolKind
    call_count: int
    content_size: BigInt = strawberry.field(description="The sum of their `contentSize`s.")
    raw_input_size: BigInt = strawberry.field(description="The sum of their `rawInput.size`s.")
    raw_output_size: BigInt = strawberry.field(description="The sum of their `rawOutput.size`s.")


def _message_id(root: strawberry.Parent[breakdown.OutputSizes]) -> strawberry.ID:
    return strawberry.ID(encode("Message", *root.key))


@strawberry.type(description="What one tool call returned, in stored bytes.")
class ToolOutputSizes:
    """A view of the store's value."""

    message_id: strawberry.ID = strawberry.field(
        resolver=_message_id, description="The message that carries the call."
    )
    sequence: int = strawberry.field(description="Its place in the session.")
    tool_call_id: str
    name: str | None
    title: str | None
    kind: ToolKind
    content_size: BigInt
    raw_output_size: BigInt


@strawberry.type(
    description=(
        "Where a session's bytes are, by the sizes that are stored with its messages: no content "
        "is read for it, and the guard has nothing to withhold."
    )
)
class ContentBreakdown:
    """A view of the store's value."""

    tools: list[ToolSizes] = strawberry.field(
        description="The heaviest tools, by the sum of their three sizes, the heaviest first."
    )
    tool_count: int = strawberry.field(description="How many tools there are, listed or not.")
    largest_outputs: list[ToolOutputSizes] = strawberry.field(
        description=(
            "The calls that returned most, by `contentSize` and `rawOutputSize` together, the "
            "largest first. Calls that returned nothing are not among them."
        )
    )


async def _resolve(
    root: strawberry.Parent[SessionRow], info: Info, first: int = 10
) -> breakdown.Breakdown:
    if not 1 <= first <= MAX_LISTED:
        raise BadUserInputError(
            f"first must be between 1 and {MAX_LISTED}: got {first}.", argument="first"
        )
    info.context.ledger.charge_rows(2 * first)
    async with info.context.database.read() as connection:
        return await breakdown.of_session(connection, root.key, first)


of_session: Any = strawberry.field(
    resolver=_resolve,
    description=(
        "Where its bytes are: the `first` heaviest tools and largest outputs, at most 100 of each. "
        "Costs one pass over the rows of its messages, so ask for it where one session is shown."
    ),
    graphql_type=ContentBreakdown | None,
)
"""`Session.contentBreakdown`; null where the operation's rows do not suffice."""
