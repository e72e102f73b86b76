"""Random values to complete: rows as pages have them, and rows that are broken in every way."""

import enum
import random
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any, cast

import orjson

from toolfold.errors import CorruptContentError
from toolfold.loaders import Loader
from toolfold.schema import blocks
from toolfold.schema.connection import Connection, Scope
from toolfold.schema.guard import bulk_access
from toolfold.schema.rows import (
    MessageRow,
    ProjectRow,
    SessionRow,
    ToolMetadataRow,
    message_rows,
)
from toolfold.schema.subscription import CaughtUp, MessageUpdate, SessionChange, SessionDeleted
from toolfold.store import message as message_store
from toolfold.store import project as project_store
from toolfold.store import session as session_store
from toolfold.store.page import Page

NOW = "2026-11-30T17:09:47.447Z"
CONTENTS = [
    orjson.dumps([{"type": "content", "content": {"type": "text", "text": "x" * size}}])
    for size in (1, 100, 500, 2_000, 70_000)
] + [
    b'[{"type":"diff","path":"p","newText":"n"},{"type":"terminal","exitCode":3},7]',
    b'[{"type":"image","mimeType":"image/png","data":"AAAA"},"text",[],null]',
    b'[{"type":"resource_link","uri":"u","name":"n","size":9}]',
    b'[{"type":"resource","resource":{"uri":"u","text":"t"}}]',
    b"[]",
]
MISSING, CORRUPT = b"missing".ljust(32), b"corrupt".ljust(32)
HASHES = [bytes([number]) * 32 for number in range(len(CONTENTS))]
_COLUMNS = tuple(message_store.COLUMNS)
_SOME_COLUMNS = tuple(name for name in _COLUMNS if name not in ("tool_title", "model", "repaired"))


class Role(enum.StrEnum):
    """A text of a class of its own."""

    USER = "user"


class Later:
    """An awaitable that may be awaited again, and need not be."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Generator[None, None, Any]:
        yield
        return self._value


class LooseRow(MessageRow):
    """A message's row that is no tuple: any attribute may be missing, or raise."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattribute__(self, name: str) -> Any:
        values = object.__getattribute__(self, "_values")
        if name in values:
            value = values[name]
            if isinstance(value, KeyError):
                raise value
            return value
        if name in _COLUMNS:
            raise AttributeError(name)
        return object.__getattribute__(self, name)


class Values:
    """Makes the values of one execution; the same ones from the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - not for secrets.
        self.broken = self.random.choice([0, 0.05, 0.3, 1])
        compact = self.random.choice([None, True, False])
        self.access = bulk_access(compact=compact, default=True)
        self.scope = Scope.of("messages", "p", "s", types=(int,))

    def roots(self) -> SimpleNamespace:
        """Return the value of the query's root: every shape that a page or an event has."""
        return SimpleNamespace(
            connection=self._connection(self.messages(), lambda row: str(row)[:9]),
            rows=self.messages(),
            message=self.broken_at_times(self.message()),
            nodes=self.many(self._node),
            updates=self.many(self._update),
            update=self._update(),
            sessions=self._sessions(),
            blocks=self.many(self._block),
        )

    def loaders(self) -> Any:
        """Return loaders that find random rows, and contents by their hashes."""

        def loading(make: Any) -> Loader[Any, Any]:
            async def load(_: Any, keys: Any) -> list[Any]:
                return [make(key) for key in keys]

            return Loader(cast("Any", None), load)

        found = self.random.random()
        attachment = SimpleNamespace(mime_type="a/b", size=1, name=None, project_id="p", hash=b"h")
        image = SimpleNamespace(media_type="image/png", size=1, project_id="p", hash=b"i")
        return SimpleNamespace(
            contents=loading(_content),
            projects=loading(lambda _: self.project()),
            sessions=loading(lambda _: self.session() if found < 0.9 else None),
            child_sessions=loading(lambda _: self.session() if found < 0.5 else None),
            attachments=loading(lambda _: [attachment] if found < 0.9 else ValueError("lost")),
            content_images=loading(lambda _: [image] if found < 0.9 else ValueError("lost")),
        )

    def many(self, make: Any) -> Any:
        """Return a list of values, a few or many."""
        count = self.random.choice(
            [0, 1, 2, 3, 20, 300] if self.random.random() < 0.1 else [1, 4, 10]
        )
        made = [make() for _ in range(count)]
        chance = self.random.random()
        if chance < self.broken / 9:
            return self.random.choice([None, 3, Later(made), ValueError("list"), iter(made)])
        return tuple(made) if chance > 0.95 else made

    def messages(self) -> Any:
        """Return the rows of a page."""
        return self.many(lambda: self.broken_at_times(self.message()))

    def message(self, base: Any = MessageRow) -> Any:
        """Return a message's row."""
        values = self._message_values()
        if self.random.random() < self.broken / 4:
            return LooseRow(values)
        columns = _SOME_COLUMNS if self.random.random() < self.broken / 9 else _COLUMNS
        row = [values.get(name) for name in columns]
        return message_rows(columns, [row], self.access, self.scope, base)[0]

    def session(self) -> Any:
        """Return a session's row."""
        values: dict[str, Any] = dict.fromkeys(session_store.COLUMNS)
        values |= {"project_id": "p", "id": "s", "agent": "a", "status": "active"}
        values |= dict.fromkeys(("created_at", "updated_at"), NOW)
        values |= dict.fromkeys(("message_count", "tool_call_count", "content_size"), 3)
        values |= {"title": self.random.choice([None, "Title"]), "head_sequence": 1}
        values |= {"head_revision": 2, "parent_id": self.random.choice([None, "parent"])}
        values |= dict.fromkeys(_TOKENS, self.random.choice([None, 5]))
        return SessionRow._make([values[name] for name in session_store.COLUMNS])

    def project(self) -> Any:
        """Return a project's row."""
        values = {"id": "p", "name": "name", "created_at": NOW}
        return ProjectRow._make([values[name] for name in project_store.COLUMNS])

    def broken_at_times(self, value: Any) -> Any:
        """Return a value, or what should not be in its place."""
        if self.random.random() >= self.broken / 9:
            return value
        return self.random.choice([None, ValueError("item"), 7, Later(value), self.session()])

    def _message_values(self) -> dict[str, Any]:
        pick = self.random.choice
        values: dict[str, Any] = {
            "project_id": "p", "session_id": "s", "sequence": self.random.randint(1, 99),
            "revision": 4, "client_id": "c", "role": pick(["user", "tool", "plan"]),
            "origin": pick([None, "system"]), "model": pick([None, "m"]), "created_at": NOW,
            "repaired": pick([True, False, 0, 1]), "attachment_count": pick([0, 0, 0, 1]),
            **dict.fromkeys(_TOKENS, pick([None, 12, 2**53 - (not self.broken)])),
            "content_size": 5, "content_preview": "prev…", "content": "prev…", "content_hash": None,
        }  # fmt: skip
        if pick([True, False]):
            values |= {
                "tool_call_id": "call", "tool_name": pick([None, "Read"]),
                "tool_title": pick([None, "Title"]), "tool_kind": pick(["read", "other"]),
                "tool_status": pick(["completed", "failed"]), "tool_started_at": pick([None, NOW]),
                "tool_ended_at": pick([None, NOW]), "tool_content_preview": pick([None, "p" * 280]),
                "tool_locations": pick([None, "[]", '[{"path":"a","line":1},{"path":"b"}]']),
                "tool_content_state": pick(["complete", "missing"]),
            }  # fmt: skip
            for part in ("tool_content", "raw_input", "raw_output"):
                values |= self._part(part)
        if pick([True, False, False]):
            values |= {**self._part("content"), "content": None}
        if self.random.random() < self.broken:
            for name in self.random.sample(list(values), self.random.choice([1, 1, 2, 6])):
                values[name] = self._wrong(values[name])
        if self.random.random() < self.broken / 4:
            # A scalar whose serializer takes anything shows what is let through to it.
            name = pick(["created_at", "tool_started_at", "tool_ended_at"])
            values[name] = pick([ValueError("time"), Later(NOW), Later(None)])
        return values

    def _wrong(self, value: Any) -> Any:
        """Return what should not be in a value's place, or is just within its bounds."""
        near = _NEAR.get(type(value))
        return self.random.choice(near if near and self.random.random() < 0.6 else _WRONG)

    def _part(self, name: str) -> dict[str, Any]:
        chance = self.random.random()
        if chance < 0.3:
            return {f"{name}_size": None if name != "content" else 5, f"{name}_hash": None}
        if chance < 0.3 + self.broken / 9:
            digest = self.random.choice([MISSING, CORRUPT])
            return {f"{name}_size": 9, f"{name}_hash": digest}
        which = self.random.randrange(len(CONTENTS))
        return {f"{name}_size": len(CONTENTS[which]), f"{name}_hash": HASHES[which]}

    def _connection(self, rows: Any, cursor_of: Any) -> Any:
        async def count() -> int:
            return 3

        page = Page([], has_next=True, has_previous=False)
        connection = Connection(page, rows, cursor_of, count)
        if not isinstance(rows, list | tuple):
            connection.rows = cast("Any", rows)
        return connection

    def _sessions(self) -> Any:
        rows = [self.session() for _ in range(3)]
        return self._connection(rows, lambda row: f"cursor of {row.id}")

    def _node(self) -> Any:
        make = self.random.choice(
            [self.message, lambda: self.message(ToolMetadataRow), self.session, self.project]
        )
        return self.broken_at_times(None if self.random.random() < 0.1 else make())

    def _update(self) -> Any:
        made = self.random.choice(
            [
                MessageUpdate(cursor="c", is_new=True, message=self.message()),
                CaughtUp(cursor="c"),
                SessionChange(cursor="c", session=self.session()),
                SessionDeleted(cursor="c", deleted_id=cast("Any", "id")),
            ]
        )
        return self.broken_at_times(made)

    def _block(self) -> Any:
        content = orjson.loads(self.random.choice(CONTENTS) or b"[]") or [{"type": "new"}]
        block = blocks.parse_block(self.random.choice(content), "p")
        if self.random.random() < self.broken:
            name = self.random.choice(list(vars(block)))
            setattr(block, name, self._wrong(getattr(block, name)))
        return self.broken_at_times(block)


_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
_NEAR: dict[type, list[Any]] = {
    int: [None, 0, 2**31 - 1, 2**31, -(2**31), 2**53 - 1, 2**53, -(2**53), True, 3.0],
    bool: [None, 0, 1, 2, 1.0, "true"],
    str: [None, "", 3, True, b"bytes", "user", Role.USER, ValueError("text"), Later("text")],
}
_WRONG: list[Any] = [
    None, 3, -1, 2**31, 2**40, 2**53, 2**60, 1.5, 3.0, float("inf"), True, "", "9", "user", "ADMIN",
    b"bytes", [1], (), {"a": 1}, ValueError("value"), KeyError("raised"), Later("later"),
    Later(None), orjson.Fragment(b"1"), object(),
]  # fmt: skip


def _content(key: tuple[str, bytes]) -> Any:
    if key[1] == CORRUPT:
        return CorruptContentError("Corrupt.")
    return dict(zip(HASHES, CONTENTS, strict=True)).get(key[1])
