"""ACP: logs of what a client and an agent say to each other in the Agent Client Protocol.

JSON lines, wherever the client that wrote them keeps them: JSON-RPC messages of both sides, or of
one, or bare `session/update` notifications; protocol version 1, and version 2 as far as its schema
is public (agentclientprotocol.com, npm @agentclientprotocol/sdk).

- `log`: the importer: lines in, entries out.
- `live`: the same of a conversation that still goes on.
- `wire`, `methods`: a line as a message, and the request that a response answers.
- `exchange`, `facts`, `replies`: messages as values of the sessions that they are about.
- `updates`: one session's updates as values; it knows no file. Whoever receives updates from
  elsewhere than a log starts here.
- `notifications`: messages of one session that come by another way than a log.
- `conversation`, `turn`, `prose`, `turn_calls`, `tool_calls`, `terminals`, `outbox`: what `updates`
  is made of.
- `shape`: what a record must look like to be understood.
"""

from toolfold.importers.acp.log import NAME, accepts, parse

__all__ = ["NAME", "accepts", "parse"]
