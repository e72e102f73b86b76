"""Records of the type `progress`: what a running tool reported, repeated by its result.

Only one thing is told here first: which sub-agent a call began.
"""

from collections.abc import Iterator

from toolfold.importers.claude_code.conversation import Conversation, Source
from toolfold.importers.claude_code.records import text
from toolfold.transcript import Value


def read(source: Source, conversation: Conversation) -> Iterator[Value]:
    """Yield the call's sub-agent when it is told for the first time."""
    data = source.record.get("data")
    agent = text(data, "agentId") if isinstance(data, dict) else None
    call = text(source.record, "parentToolUseID")
    if agent is not None and call is not None:
        yield from conversation.begin_child(call, f"{source.place.session}/{agent}")
