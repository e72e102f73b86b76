"""The files that came with messages."""

from tests import builders
from tests.statements import statements
from toolfold.store import attachment
from toolfold.store.engine import Database
from toolfold.transcript import Attachment

PICTURE = Attachment(b"\x89PNG", "image/png", "a.png")
NOTE = Attachment(b"Note.", "text/plain")


async def test_attachments_come_by_message_in_their_order(database: Database) -> None:
    messages = [
        builders.text_message(attachments=(PICTURE, NOTE, PICTURE)),
        builders.text_message(),
        builders.text_message(attachments=(NOTE,)),
    ]
    await builders.store_session(database, messages)
    await builders.store_session(database, messages, session_id="session-2")
    keys = [(builders.PROJECT, builders.SESSION, sequence) for sequence in (1, 2, 9)]
    keys.append((builders.PROJECT, "session-2", 3))
    async with database.read() as connection:
        with statements(database) as seen:
            found = await attachment.by_messages(connection, keys, ("name", "size", "mime_type"))
        none = await attachment.by_messages(connection, [])
    assert len(seen) == 1
    assert {key: [tuple(row)[:3] for row in rows] for key, rows in found.items()} == {
        keys[0]: [
            ("a.png", 4, "image/png"),
            (None, 5, "text/plain"),
            ("a.png", 4, "image/png"),
        ],
        keys[1]: [],
        keys[2]: [],
        keys[3]: [(None, 5, "text/plain")],
    }
    assert none == {}
