"""Entries gathered into the batch that one transaction writes: everything that needs no database.

Encoding, hashing, compressing and previews are done here, so that they hold up no writer. Updates
of a message that the same batch tells are merged into it.
"""

from collections import Counter
from collections.abc import Iterable

from toolfold.errors import InvalidJsonError, TranscriptError
from toolfold.ingest import columns, identity, retelling
from toolfold.ingest.batch import Batch, Patch, Problem, RawRecord, SessionBatch, Told
from toolfold.ingest.columns import Columns
from toolfold.ingest.growth import Growth
from toolfold.ingest.identity import Identity
from toolfold.ingest.light_texts import (
    MAX_NAME_CHARACTERS,
    MAX_PATH_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    identifier,
    shortened,
)
from toolfold.ingest.preparation import Part, Preparation, mend, optional_timestamp
from toolfold.store.recording.source import AT_END
from toolfold.transcript import (
    Entry,
    Message,
    MessageUsage,
    Record,
    Repair,
    Session,
    ToolCall,
    ToolCallUpdate,
    Value,
)

MAX_ENTRIES = 2_000
MAX_BYTES = 4 * 1024 * 1024
"""What a batch holds at most, but for the rest of the line that fills it."""

TOO_DEEP = "nested deeper than 1,000 levels"
"""Why a value is kept raw."""

_ROW_BYTES = 500
"""What an entry takes beside its heavy bytes, roughly."""


class Gatherer:
    """Makes batches of the entries of one format; remembers whose the sessions are between them.

    `keeps_raw` says that records of no use are kept raw, which takes a source to keep them with.
    `growth` remembers the parts of earlier batches that these may go on with.
    """

    def __init__(
        self, source_format: str, *, keeps_raw: bool, growth: Growth | None = None
    ) -> None:
        self._format = source_format
        self._keeps_raw = keeps_raw
        self._growth = growth
        self._identities: dict[str, Identity] = {}
        self._positions = Counter({AT_END: 0})
        self._start()

    def _start(self) -> None:
        self._batch = Batch(self._format)
        self._parts: dict[bytes, Part] = {}
        self._entries = 0
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to take the batch."""
        return self._entries >= MAX_ENTRIES or self._bytes >= MAX_BYTES

    @property
    def is_overfull(self) -> bool:
        """Whether the batch cannot wait any more for a place to be cut at."""
        return self._entries >= 2 * MAX_ENTRIES or self._bytes >= 2 * MAX_BYTES

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added since the batch was last taken."""
        return self._entries == 0

    def drop(self) -> None:
        """Forget what was added since the batch was last taken."""
        self._start()

    def take(self) -> Batch:
        """Return what was gathered, ready to be written, and start anew."""
        batch = self._batch
        for session in batch.sessions.values():
            for item in session.items:
                for digest in _hashes(item):
                    if digest not in batch.contents:
                        batch.contents[digest] = self._parts[digest].compressed(self._growth)
        self._start()
        return batch

    def skip(self, entry: Entry) -> None:
        """Learn whose session is meant from an entry that need not be written again."""
        if entry.session is not None and isinstance(entry.value, Session):
            self._identify(entry.session, entry.value)

    def add(self, entry: Entry) -> None:
        """Add an entry.

        Raises:
            InvalidJsonError: if it has JSON that cannot be stored, and nothing is kept raw.
            TranscriptError: if it is a record, and nothing is kept raw.
        """
        self._entries += 1
        self._bytes += _ROW_BYTES
        value = entry.value
        if isinstance(value, Record):
            self._keep_raw(entry.line, value.reason, value.raw)
        elif isinstance(value, Repair):
            self._batch.repaired += 1
            self._batch.problems.append(Problem(entry.line, value.reason))
        elif entry.session is not None:
            self._add_to_session(entry.session, entry)

    def _add_to_session(self, own_id: str, entry: Entry) -> None:
        value = entry.value
        preparation = Preparation(self._growth, (own_id, _name(value)))
        if isinstance(value, Session):
            self._identify(own_id, value)
            _say(self._session(own_id), value, preparation)
        elif isinstance(value, Message):
            attachments = columns.of_attachments(value, preparation)
            told = Told(columns.of_message(value, preparation), attachments)
            _tell(self._session(own_id), told)
        elif isinstance(value, ToolCallUpdate):
            tool_call_id = preparation.identifier(value.tool_call_id)
            patch = columns.of_update(value, preparation)
            _patch_call(self._session(own_id), tool_call_id, patch)
        elif isinstance(value, MessageUsage):
            usage = columns.of_usage(value.usage)
            client_id = preparation.identifier(value.client_id)
            _patch_message(self._session(own_id), client_id, usage)
        self._settle(entry, preparation)

    def _settle(self, entry: Entry, preparation: Preparation) -> None:
        """Take over what was gathered beside the columns of an entry."""
        for part in preparation.parts:
            # The same bytes are no content array as another part, and then have no images.
            if part.images or part.hash not in self._parts:
                self._parts[part.hash] = part
            self._bytes += part.size
        for raw in preparation.too_deep:
            self._keep_raw(entry.line, TOO_DEEP, raw)
        for name, text in preparation.cut():
            self._keep_raw(entry.line, f"{name} too long for a row", text.encode())
        # What an importer mended it has told as a `Repair`.
        if preparation.repaired:
            self._batch.repaired += 1

    def _keep_raw(self, line: int | None, reason: str, raw: bytes) -> None:
        if not self._keeps_raw:
            if reason == TOO_DEEP:
                raise InvalidJsonError(f"JSON {TOO_DEEP} cannot be stored.")
            raise TranscriptError(
                f"What is kept raw ({reason}) can be kept only with the file that it is from."
            )
        at = AT_END if line is None else line
        reason = shortened(reason, MAX_TITLE_CHARACTERS)
        if at not in self._positions:  # Lines never fall: of the ones before there is no more.
            self._positions = Counter({AT_END: self._positions[AT_END], at: 0})
        self._batch.records.append(RawRecord(at, self._positions[at], mend(reason), raw))
        self._batch.problems.append(Problem(line, reason))
        self._positions[at] += 1
        self._bytes += len(raw)

    def _identify(self, own_id: str, value: Session) -> None:
        if own_id in self._identities:
            return
        source_session = identifier(mend(own_id))
        if value.id is None:
            source_format = value.format or self._format
            self._identities[own_id] = identity.of_source(source_format, source_session)
        else:
            named = None if value.format is None else source_session
            self._identities[own_id] = Identity(value.id, value.format, named)

    def _session(self, own_id: str) -> SessionBatch:
        found = self._batch.sessions.get(own_id)
        if found is None:
            self._identify(own_id, Session())
            found = self._batch.sessions[own_id] = SessionBatch(self._identities[own_id])
        return found


def prepare(entries: Iterable[Entry], *, source_format: str) -> Batch:
    """Return all entries as one batch, none of which is kept raw.

    Raises:
        InvalidJsonError: if there is JSON that cannot be stored.
        TranscriptError: if there is a `Record` among them.
    """
    gatherer = Gatherer(source_format, keeps_raw=False)
    for entry in entries:
        gatherer.add(entry)
    return gatherer.take()


def _name(value: Value) -> str:
    """Return what names the message or the call that a value is of; nothing for any other."""
    match value:
        case ToolCallUpdate(tool_call_id=call_id):
            return f"call {call_id}"
        case Message(tool_call=ToolCall(tool_call_id=call_id)):
            return f"call {call_id}"
        case Message(client_id=client_id):
            return client_id
    return ""


def _hashes(item: Told | Patch) -> set[bytes]:
    """Return the hashes of the contents that a message uses after all that was said of it."""
    told, names = item.columns, columns.PARTS.values()
    patch = item.patch if isinstance(item, Told) else {}
    hashes = {one for name in names if (one := patch.get(name, told.get(name)))}
    if isinstance(item, Told):
        hashes |= {row["hash"] for row in item.attachments}
    return hashes


def _say(session: SessionBatch, value: Session, preparation: Preparation) -> None:
    """Merge what is said of a session; what is said last counts.

    Of the times the widest count, and of the directories the first.
    """
    said = session.said
    for name, label, text, limit in (
        ("agent", "agent", value.agent, MAX_NAME_CHARACTERS),
        ("title", "title", value.title, MAX_TITLE_CHARACTERS),
        ("cwd", "directory", value.cwd, MAX_PATH_CHARACTERS),
        ("git_branch", "branch", value.git_branch, MAX_TITLE_CHARACTERS),
    ):
        # A session's directory is the one that it began in.
        if text is not None and not (name == "cwd" and name in said):
            said[name] = preparation.light_text(f"session's {label}", text, limit)
    for name, own_id in (
        ("parent_source_session", value.parent),
        ("parent_tool_call_id", value.parent_tool_call_id),
    ):
        if own_id is not None:
            said[name] = preparation.identifier(own_id)
    if value.status is not None:
        said["status"] = value.status.value
    if (created_at := optional_timestamp(value.created_at)) is not None:
        said["created_at"] = min(created_at, said.get("created_at", created_at))
    if (updated_at := optional_timestamp(value.updated_at)) is not None:
        said["updated_at"] = max(updated_at, said.get("updated_at", updated_at))


def _tell(session: SessionBatch, told: Told) -> None:
    client_id = told.columns["client_id"]
    before = session.told.get(client_id)
    if before is not None:
        changes = retelling.changes(before.columns | before.patch, told.columns)
        before.patch |= changes
        if "attachment_count" in changes:
            before.attachments = told.attachments
        return
    session.told[client_id] = told
    session.items.append(told)
    if told.columns["tool_call_id"] is not None:
        session.calls[told.columns["tool_call_id"]] = told


def _patch_call(session: SessionBatch, tool_call_id: str, patch: Columns) -> None:
    item = session.calls.get(tool_call_id)
    if item is None:
        unknown = columns.of_unknown_call(tool_call_id)
        item = Patch(tool_call_id, unknown["client_id"], {})
        session.calls[tool_call_id] = item
        session.items.append(item)
    _apply(item, patch)


def _patch_message(session: SessionBatch, client_id: str, patch: Columns) -> None:
    item: Told | Patch | None = session.told.get(client_id)
    if item is None:
        item = Patch(None, client_id, {})
        session.items.append(item)
    _apply(item, patch)


def _apply(item: Told | Patch, patch: Columns) -> None:
    if isinstance(item, Told):
        item.patch |= patch
    else:
        item.columns |= patch
