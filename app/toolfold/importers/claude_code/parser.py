"""Reads the records of a transcript in file order and says which session each belongs to.

A sub-agent's session has the id `<session>/<agent>`. Before version 2.0 sub-agents stood in their
parent's file, each a tree of its own without an id: theirs is that of the tree's first record, and
the call that began one is known by its prompt. Records are taken in file order; branches that a
user left by rewinding are kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from toolfold.importers.claude_code import assistant, notices, progress, user
from toolfold.importers.claude_code.conversation import Conversation, Source
from toolfold.importers.claude_code.files import SessionFiles
from toolfold.importers.claude_code.records import (
    CONVERSATION,
    TITLES,
    Envelope,
    Fields,
    SurprisingShapeError,
    block_type,
    blocks,
    envelope,
    fields,
    is_record,
    text,
)
from toolfold.importers.claude_code.titles import Titles
from toolfold.importers.jsonl import Decoded
from toolfold.transcript import Record, Repair, Session, Value

AGENT = "claude-code"

Told = tuple[str | None, Value]
"""The session that a value belongs to, and the value."""

_READERS: dict[str, Callable[[Source, Conversation], Iterator[Value]]] = {
    "user": user.read,
    "assistant": assistant.read,
    "system": notices.read_system,
    "attachment": notices.read_attachment,
    "progress": progress.read,
}


class Parser:
    """What must be known of a file to read on in it: small ids, and what is open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: SessionFiles | None = None
        self._titles = Titles()
        self._sessions: dict[str, Session] = {}
        self._conversations: dict[str, Conversation] = {}
        self._trees: dict[str, str] = {}
        self._met: set[int] = set()
        self._current: str | None = None
        self._recognised = False

    @property
    def recognised(self) -> bool:
        """Whether a record of this format was met yet."""
        return self._recognised

    def read(self, item: Decoded | Record | Repair, raw: bytes) -> Iterator[Told]:
        """Yield what one value of a line becomes; a record not understood is kept as `raw`."""
        if not isinstance(item, Decoded):
            yield None, item
        elif not is_record(item.value):
            yield None, Record(raw, f"unknown record {block_type(item.value)}".strip())
        else:
            self._recognised = True
            yield from self._record(item, raw)

    def end(self) -> Iterator[Told]:
        """Yield what only the end of the file tells."""
        for key, conversation in self._conversations.items():
            for value in conversation.end():
                yield key, value

    def _record(self, decoded: Decoded, raw: bytes) -> Iterator[Told]:
        kind = decoded.value["type"]
        if kind in TITLES:
            yield from self._renamed(self._named(decoded.value))
        elif kind in CONVERSATION:
            yield from self._conversation(decoded, raw)

    def _conversation(self, decoded: Decoded, raw: bytes) -> Iterator[Told]:
        place = envelope(decoded.value)
        key = self._key(place)
        if self._has_met(key, place.uuid):
            yield None, Record(raw, "repeated record")
            return
        self._met.add(hash((key, place.uuid)))
        self._files = self._files or SessionFiles(self._path, place)
        yield from self._session(key, place, decoded.value)
        if key == place.session:
            self._current = key
            yield from self._renamed(self._titles.met(place.uuid, key))
        source = Source(decoded.value, place, self._files, raw, decoded.repaired)
        yield from self._values(source, key)

    def _values(self, source: Source, key: str) -> Iterator[Told]:
        """Yield what a record becomes; the record itself at most once, if some part is odd."""
        kept_raw = False
        try:
            for value in _READERS[source.record["type"]](source, self._conversations[key]):
                if not isinstance(value, Record):
                    yield key, value
                elif not kept_raw:
                    kept_raw = True
                    yield None, value
        except SurprisingShapeError as error:
            yield None, source.kept_raw(error)

    def _key(self, place: Envelope) -> str:
        """Return the id of the session that a record belongs to."""
        if not place.sidechain:
            return place.session
        if place.agent is not None:
            return f"{place.session}/{place.agent}"
        root = self._trees.get(place.parent or "", place.uuid)
        self._trees[place.uuid] = root
        return f"{place.session}/{root}"

    def _has_met(self, key: str, uuid: str) -> bool:
        return hash((key, uuid)) in self._met

    def _session(self, key: str, place: Envelope, record: Fields) -> Iterator[Told]:
        """Tell of a session when its first record is met, and later of what that did not say.

        Its directory and its branch are those that are named first.
        """
        known = self._sessions.get(key)
        if known is None:
            self._conversations[key] = Conversation()
            yield from self._new_session(key, place, record)
            return
        cwd = place.cwd if known.cwd is None else None
        branch = place.git_branch if known.git_branch is None else None
        if cwd or branch:
            yield key, Session(cwd=cwd, git_branch=branch)
            self._sessions[key] = Session(
                cwd=known.cwd or cwd, git_branch=known.git_branch or branch
            )

    def _new_session(self, key: str, place: Envelope, record: Fields) -> Iterator[Told]:
        session = Session(
            agent=AGENT,
            title=self._titles.of(key),
            cwd=place.cwd,
            git_branch=place.git_branch,
            created_at=place.time,
        )
        self._sessions[key] = session
        if key == place.session:
            yield key, session
            return
        meta = self._files.meta() if place.agent and self._files else {}
        parent = self._conversations.get(place.session, Conversation())
        call = text(meta, "toolUseId") or parent.begun_by(_prompt(record))
        yield (
            key,
            replace(
                session,
                title=text(meta, "description") or parent.description(call),
                parent=place.session,
                parent_tool_call_id=call,
            ),
        )
        for update in parent.begin_child(call, key):
            yield place.session, update

    def _named(self, record: Fields) -> str | None:
        """Take a record that names a session; return the session if it has another title now."""
        if record["type"] != "summary":
            return self._titles.read(record)
        if self._current is None or not self._has_met(self._current, record.get("leafUuid", "")):
            self._titles.await_leaf(record)
            return None
        return self._titles.summarised(self._current, record)

    def _renamed(self, session: str | None) -> Iterator[Told]:
        if session is not None and session in self._sessions:
            yield session, Session(title=self._titles.of(session))


def _prompt(record: Fields) -> str:
    """Return the text of a sub-agent's first record."""
    try:
        content = blocks(fields(record, "message"))
    except SurprisingShapeError:
        return ""
    texts = [text(block, "text") for block in content if block_type(block) == "text"]
    return "\n".join(filter(None, texts))
