"""Numbers and dates the entries of one sample session, in the order in which they are made."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from toolfold.transcript import (
    Entry,
    Json,
    Message,
    MessageRole,
    Session,
    ToolCall,
    ToolKind,
    ToolStatus,
    Usage,
)

MODEL = "sample-model-1"
START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


class Recorder:
    """The session that is being made: its random numbers, its clock, its count of messages."""

    def __init__(self, session: str, *, seed: int, start: datetime = START) -> None:
        self.session = session
        self.rng = random.Random(f"{session}/{seed}")  # noqa: S311 (the same numbers each time)
        self.now = start
        self.message_count = 0
        self.tool_call_count = 0

    def opening(self, title: str, **facts: Any) -> Entry:
        """Return the entry that says what the session is; `facts` are more of `Session`'s."""
        value = Session(
            agent="sample-agent",
            title=title,
            cwd="/home/sam/weather",
            git_branch="main",
            created_at=self.now,
            **facts,
        )
        return Entry(self.session, None, value)

    def say(self, role: MessageRole, content: str, **facts: Any) -> Entry:
        """Return the next message; one by the model has its name, and its usage if it speaks."""
        if role in (MessageRole.ASSISTANT, MessageRole.THINKING):
            facts.setdefault("model", MODEL)
        if role is MessageRole.ASSISTANT:
            facts.setdefault("usage", self._usage(content))
        return self._message(role, content, **facts)

    def call(
        self,
        name: str,
        title: str,
        kind: ToolKind,
        content: Json = None,
        *,
        status: ToolStatus = ToolStatus.COMPLETED,
        **facts: Any,
    ) -> Entry:
        """Return the next message, a tool call that took a while unless it is still pending."""
        self.tool_call_count += 1
        started = self.now
        pending = status is ToolStatus.PENDING
        ended = None if pending else started + timedelta(milliseconds=self.rng.randrange(20, 9_000))
        tool_call = ToolCall(
            self.last_call_id,
            name=name,
            title=title,
            kind=kind,
            status=status,
            content=content,
            started_at=started,
            ended_at=ended,
            **facts,
        )
        entry = self._message(MessageRole.TOOL, "", model=MODEL, tool_call=tool_call)
        self.now = max(self.now, ended or started)
        return entry

    @property
    def last_call_id(self) -> str:
        """The id of the tool call made last."""
        return f"call_{self.session}_{self.tool_call_count:04}"

    def _message(self, role: MessageRole, content: str, **facts: Any) -> Entry:
        self.message_count += 1
        client_id = f"{self.session}-{self.message_count:04}"
        message = Message(client_id, role, content, created_at=self.now, **facts)
        self.now += timedelta(milliseconds=self.rng.randrange(100, 30_000))
        return Entry(self.session, None, message)

    def _usage(self, content: str) -> Usage:
        return Usage(
            input_tokens=self.rng.randrange(3, 40),
            output_tokens=len(content) // 4 + 1,
            cache_read_tokens=12_000 + 150 * self.message_count,
            cache_creation_tokens=self.rng.randrange(100, 4_000),
        )
