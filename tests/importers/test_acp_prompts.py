import base64
import hashlib

from tests.importers.acp_log import S, Store, answered, opened, prompt, said, update
from toolfold.transcript import Attachment, Message, MessageRole

PNG = b"\x89PNG\r\n\x1a\n not really"
IMAGE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}


def test_the_same_text_twice_is_two_messages() -> None:
    store = Store().read(
        [*opened(), prompt("Go on."), answered(), prompt("Go on."), answered(), prompt("Go on.")]
    )
    assert store.texts() == [("user", "Go on.")] * 3


def test_a_prompt_s_blocks_become_text_and_attachments() -> None:
    resource = {"uri": "file:///work/src/a%20b.py", "mimeType": "text/x-python", "text": "ü = 1\n"}
    plain = {"uri": "file:///work/", "text": "a.py"}
    blob = {"uri": "file:///work/x.bin", "blob": base64.b64encode(b"\x00\x01").decode()}
    store = Store().read(
        [
            *opened(),
            prompt(
                "Look at this.",
                IMAGE,
                {
                    "type": "audio",
                    "mimeType": "audio/wav",
                    "data": base64.b64encode(b"wav").decode(),
                },
                {"type": "resource", "resource": resource},
                {"type": "resource", "resource": plain},
                {"type": "resource", "resource": blob},
                {"type": "resource_link", "uri": "file:///work/build.log", "name": "build.log"},
            ),
        ]
    )
    assert store.messages[S] == [
        Message(
            # The text typed, without white space.
            client_id=f"user:1-{hashlib.sha256(b'Lookatthis.').hexdigest()[:8]}",
            role=MessageRole.USER,
            content=(
                "Look at this.\n"
                "[a b.py](file:///work/src/a%20b.py)\n"
                "[work](file:///work/)\n"
                "[x.bin](file:///work/x.bin)\n"
                "[build.log](file:///work/build.log)"
            ),
            attachments=(
                Attachment(PNG, "image/png"),
                Attachment(b"wav", "audio/wav"),
                Attachment("ü = 1\n".encode(), "text/x-python", "a b.py"),
                Attachment(b"a.py", "text/plain", "work"),
                Attachment(b"\x00\x01", "application/octet-stream", "x.bin"),
            ),
        )
    ]


def test_a_mention_stays_in_its_sentence() -> None:
    link = {"type": "resource_link", "uri": "file:///work/a.py", "name": "@a.py"}
    store = Store().read([*opened(), prompt("Explain ", link, " to me."), said("It adds.")])
    assert store.texts()[0] == ("user", "Explain [@a.py](file:///work/a.py) to me.")


def test_a_block_that_is_not_known_is_shown_as_json() -> None:
    broken = {"type": "image", "data": "not base64!"}
    store = Store().read([*opened(), prompt("See:", {"type": "hologram"}, broken, 3)])
    assert store.texts() == [
        ("user", 'See:\n{"type":"hologram"}\n{"type":"image","data":"not base64!"}\n3')
    ]


def test_user_chunks_are_a_message_where_no_prompt_was_logged() -> None:
    store = Store().read(
        [
            said("Fix ", role="user_message"),
            said("it.", role="user_message"),
            said("Done."),
            said("Thanks.", role="user_message"),
        ]
    )
    assert store.texts() == [("user", "Fix it."), ("assistant", "Done."), ("user", "Thanks.")]


def test_a_prompt_that_comes_back_as_a_chunk_is_one_message() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Fix it.", IMAGE),
            said("Fix ", "u1", role="user_message"),
            said("it.", "u1", role="user_message"),
            update("user_message_chunk", content=IMAGE, messageId="u1"),
            said("Done."),
            # Not an echo: the user steers.
            said("And test it.", role="user_message"),
            said("Tested."),
            said("Fix it.", role="user_message"),
            said("Again?"),
            answered(),
        ]
    )
    assert store.texts() == [
        ("user", "Fix it."),
        ("assistant", "Done."),
        ("user", "And test it."),
        ("assistant", "Tested."),
        ("user", "Fix it."),
        ("assistant", "Again?"),
    ]
