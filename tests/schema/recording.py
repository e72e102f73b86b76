"""ACP messages as a test records them in the session `s`."""

from dataclasses import replace
from typing import Any

from tests.schema.conftest import Api
from tests.schema.mutating import mutate
from toolfold.ingest.acp_stream import Streams
from toolfold.schema.global_id import encode
from toolfold.transcript import Json

SESSION = encode("Session", "default", "s")
PAYLOAD = "nextIndex session { status messageCount title }"


async def record(api: Api, first: int, *updates: Json, **given: Any) -> dict[str, Any]:
    asked = {"sessionId": SESSION, "fromIndex": first, "updates": list(updates), **given}
    return await mutate(api, "recordAcpUpdates", PAYLOAD, **asked)


def restarted(api: Api) -> Api:
    """Return the API of a server that remembers nothing."""
    return replace(api, streams=Streams())


def notice(update: Json) -> Json:
    params = {"sessionId": "agents-own", "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def chunk(text: str, kind: str = "agent_message_chunk", **given: Any) -> Json:
    content = {"type": "text", "text": text}
    return notice({"sessionUpdate": kind, "content": content, **given})


def call(call_id: str, **given: Any) -> Json:
    return notice({"sessionUpdate": "tool_call", "toolCallId": call_id, **given})


def patch(call_id: str, **given: Any) -> Json:
    return notice({"sessionUpdate": "tool_call_update", "toolCallId": call_id, **given})
