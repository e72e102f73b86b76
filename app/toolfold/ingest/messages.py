"""The messages of one session in one transaction: which are new, which change, which stay."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection

from toolfold.ingest import columns, retelling
from toolfold.ingest.batch import Patch, SessionBatch, Told
from toolfold.ingest.columns import Columns
from toolfold.store.recording import message
from toolfold.store.recording.content import Reference
from toolfold.store.recording.rows import Values


class Messages:
    """Takes what a batch says of a session's messages, and finds out what that changes.

    `added` are new rows and `changed` stored ones in their new form, each in the order of their
    sequence or change; nothing is written before `write`.
    """

    def __init__(
        self, connection: Connection, session: Mapping[str, Any], *, base_time: str
    ) -> None:
        self._connection = connection
        self._session = session
        self._base_time = base_time
        self._by_client: dict[str, Columns] = {}
        self._by_call: dict[str, Columns] = {}
        self._before: dict[int, Columns] = {}
        self._attachments: list[Values] = []
        self._last_time: str | None = None
        self.head_sequence: int = session["head_sequence"]
        self.head_revision: int = session["head_revision"]
        self.added: list[Columns] = []
        self.changed: list[Columns] = []
        self.repeated: set[int] = set()
        """The sequences of stored messages that were told again, changed by that or not."""

    def take(self, batch: SessionBatch) -> None:
        """Apply all that the batch says, in its order."""
        if self.head_sequence:
            self._load(batch)
        for item in batch.items:
            if isinstance(item, Told):
                self._take_told(item)
            else:
                self._take_patch(item)

    def before(self, row: Columns) -> Columns | None:
        """Return a row as it was before this transaction; None if it is new."""
        return self._before.get(row["sequence"])

    def write(self) -> None:
        """Write the rows."""
        message.add(self._connection, self.added)
        message.replace(self._connection, self.changed)

    @property
    def attachments(self) -> list[Values]:
        """The rows of the attachments that came with messages."""
        return self._attachments

    def gained(self) -> set[Reference]:
        """Return the references to contents that there were not before."""
        now = {use for row in (*self.added, *self.changed) for use in _references(row)}
        files = {
            Reference(row["hash"], row["session_id"], row["sequence"], "attachment")
            for row in self._attachments
        }
        return (now | files) - self._references_before()

    def lost(self) -> set[Reference]:
        """Return the references to contents that there are no more."""
        return self._references_before() - {use for row in self.changed for use in _references(row)}

    def _references_before(self) -> set[Reference]:
        return {use for row in self._before.values() for use in _references(row)}

    def _load(self, batch: SessionBatch) -> None:
        """Read the stored messages that the batch speaks of."""
        session = self._session["project_id"], self._session["id"]
        client_ids = set(batch.told)
        tool_call_ids = set()
        for item in batch.items:
            if isinstance(item, Patch):
                if item.tool_call_id is None:
                    client_ids.add(item.client_id)
                else:
                    tool_call_ids.add(item.tool_call_id)
        found = message.by_client_ids(self._connection, *session, client_ids)
        called = message.by_tool_call_ids(self._connection, *session, tool_call_ids)
        rows = {row["sequence"]: dict(row) for row in (*found.values(), *called.values())}
        self._by_client = {row["client_id"]: row for row in rows.values()}
        self._by_call = {name: rows[row["sequence"]] for name, row in called.items()}

    def _take_told(self, told: Told) -> None:
        stored = self._by_client.get(told.columns["client_id"])
        if stored is None:
            row = self._append(told.columns | told.patch)
            self._attach(row, told.attachments)
            return
        changes = retelling.changes(stored, told.columns) | told.patch
        if stored["sequence"] <= self._session["head_sequence"]:
            self.repeated.add(stored["sequence"])
        self._change(stored, changes)
        if "attachment_count" in changes:
            self._attach(stored, told.attachments)

    def _take_patch(self, patch: Patch) -> None:
        if patch.tool_call_id is None:
            stored = self._by_client.get(patch.client_id)
            if stored is not None:
                self._change(stored, patch.columns)
            return
        stored = self._by_call.get(patch.tool_call_id) or self._by_client.get(patch.client_id)
        if stored is None:
            self._append(columns.of_unknown_call(patch.tool_call_id) | patch.columns)
        else:
            self._change(stored, patch.columns)

    def _append(self, told: Columns) -> Columns:
        self.head_sequence += 1
        self.head_revision += 1
        row = told | {
            "project_id": self._session["project_id"],
            "session_id": self._session["id"],
            "sequence": self.head_sequence,
            "revision": self.head_revision,
            "created_at": told["created_at"] or self._time_before(),
        }
        columns.make_coherent(row)
        self._last_time = row["created_at"]
        self.added.append(row)
        self._by_client[row["client_id"]] = row
        if row["tool_call_id"] is not None:
            self._by_call[row["tool_call_id"]] = row
        return row

    def _change(self, row: Columns, changes: Columns) -> None:
        """Give a row new values, if any differs from what it has."""
        new = row | changes
        columns.make_coherent(new)
        if new == row:
            return
        sequence = row["sequence"]
        if sequence <= self._session["head_sequence"] and sequence not in self._before:
            self._before[sequence] = dict(row)
            self.changed.append(row)
            self.head_revision += 1
            new["revision"] = self.head_revision
        row.update(new)

    def _attach(self, row: Columns, attachments: list[Values]) -> None:
        key = {name: row[name] for name in ("project_id", "session_id", "sequence")}
        self._attachments += [{**key, **attachment} for attachment in attachments]

    def _time_before(self) -> str:
        """Return the time of the message before the next one, else the session's."""
        if self._last_time is None and self._session["head_sequence"]:
            self._last_time = message.time_of(
                self._connection,
                self._session["project_id"],
                self._session["id"],
                self._session["head_sequence"],
            )
        return self._last_time or self._base_time


def _references(row: Columns) -> Iterator[Reference]:
    for part, column in columns.PARTS.items():
        if row[column] is not None:
            yield Reference(row[column], row["session_id"], row["sequence"], part)
