from pathlib import Path

import pytest

from tests.importers.acp_log import S, prompt, request, response, said
from toolfold.importers import acp, detect
from toolfold.importers.acp.methods import Side, sender
from toolfold.transcript import Json

INITIALIZE = request("initialize", 0, protocolVersion=1, clientCapabilities={})
INITIALIZED = response({"protocolVersion": 1, "agentInfo": {"name": "demo-agent", "version": "3"}})


@pytest.mark.parametrize(
    "value",
    [
        INITIALIZE,
        INITIALIZED,
        prompt("Go."),
        said("Hello."),
        said("Hello.")["params"],
        said("Hello.")["params"]["update"],
        {"ts": 1, "dir": "in", "msg": said("Hello.")},
        request("terminal/create", 0, sessionId=S, command="ls"),
    ],
)
def test_a_log_is_recognised_by_any_of_its_messages(value: Json) -> None:
    assert acp.accepts([{"unknown": 1}, value])


@pytest.mark.parametrize(
    "value",
    [
        # MCP, a language server, and other transcripts.
        request("initialize", 0, protocolVersion="2025-06-18", clientInfo={}),
        response({"protocolVersion": "2025-06-18", "serverInfo": {}}),
        request("initialize", 0, rootUri="file:///work"),
        request("tools/call", 0, name="read"),
        {"type": "user", "message": {"content": "session/update"}},
        {"sessionUpdate": 3},
        "session/update",
        None,
    ],
)
def test_other_json_is_not_taken_for_a_log(value: Json) -> None:
    assert not acp.accepts([value])


def test_a_log_is_detected_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text('{"sessionUpdate":"plan","entries":[]}\n', encoding="utf-8")
    importer = detect(path).importer
    assert importer is not None
    assert importer.name == acp.NAME == "acp"


def test_a_method_tells_who_sends_it() -> None:
    senders = {
        "session/prompt": Side.CLIENT,
        "session/update": Side.AGENT,
        "terminal/cancel": Side.CLIENT,
        "terminal/create": Side.AGENT,
        "$/cancel_request": None,
        "_vendor/status": None,
    }
    assert {method: sender(method) for method in senders} == senders
