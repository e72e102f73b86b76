"""A recorded conversation of ACP, line by line with who said it: to be held again."""

import json
import os
from pathlib import Path

from toolfold.importers.acp import methods
from toolfold.importers.acp.methods import Side

Spoken = tuple[Side, bytes]

DATA = Path(__file__).parent / "importers" / "data"


def logs() -> list[Path]:
    """Return the logs here, and those that were captured whole where there is a corpus."""
    corpus = os.environ.get("TOOLFOLD_CORPUS")
    captured = Path(corpus, "captured", "acp").glob("*.ndjson") if corpus else ()
    return sorted([*DATA.glob("acp_*.ndjson"), *captured])


def spoken(log: Path) -> list[Spoken]:
    """Return the lines of a log, without their newlines, each with its speaker."""
    asked: dict[Side, dict[str, str]] = {Side.CLIENT: {}, Side.AGENT: {}}
    found: list[Spoken] = []
    for raw in log.read_bytes().splitlines():
        message = json.loads(raw)
        request_id = json.dumps(message.get("id"))
        if "method" in message:
            side = methods.sender(message["method"]) or Side.AGENT
            if "id" in message:
                asked[side][request_id] = message["method"]
        else:
            side = _answering(asked, request_id, message.get("result"))
            asker = Side.AGENT if side is Side.CLIENT else Side.CLIENT
            asked[asker].pop(request_id, None)
        found.append((side, raw))
    return found


def _answering(asked: dict[Side, dict[str, str]], request_id: str, result: object) -> Side:
    """Return who answers: the client, if the agent has asked and this can be the answer."""
    method = asked[Side.AGENT].get(request_id)
    if method is not None and methods.fits(method, result):
        return Side.CLIENT
    return Side.AGENT
