"""Global ids: opaque, and silent about whatever they do not name."""

import base64

import pytest

from toolfold.schema import global_id


def test_an_id_is_the_type_and_the_key_in_base64url_without_padding() -> None:
    text = global_id.encode("Message", "default", "s-1", 12)
    assert text == base64.urlsafe_b64encode(b"Message:default/s-1/12").rstrip(b"=").decode()
    assert global_id.message_key(text) == ("default", "s-1", 12)


@pytest.mark.parametrize("session", ["s", "s-", "s-1", "\N{GREEK SMALL LETTER ALPHA}\x7f\x7f"])
@pytest.mark.parametrize("sequence", [1, 23, 456, 7_890, 999_999_999])
def test_ids_of_messages_are_encoded_alike_one_by_one_and_in_pages(
    session: str, sequence: int
) -> None:
    for typename in ("Message", "ToolMetadata"):
        encode = global_id.message_encoder(typename)
        assert encode("p", session, sequence) == global_id.encode(typename, "p", session, sequence)


def test_each_key_is_read_from_its_own_type_alone() -> None:
    project = global_id.encode("Project", "p")
    session = global_id.encode("Session", "p", "s")
    tool = global_id.encode("ToolMetadata", "p", "s", 1)
    assert global_id.project_key(project) == "p"
    assert global_id.session_key(session) == ("p", "s")
    assert global_id.message_key(tool, typename="ToolMetadata") == ("p", "s", 1)
    assert global_id.project_key(session) is None
    assert global_id.session_key(project) is None
    assert global_id.message_key(tool) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "%%%",
        "ü",
        "\ud83d",
        *(
            base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
            for raw in (
                b"\xff\xfe",
                b"Message",
                b"Message:p/s",
                b"Message:p/s/0",
                b"Message:p/s/01",
                b"Message:p/s/-1",
                b"Message:p/s/x",
                b"Message:p/s/1/2",
                "Message:p/s/\u0661".encode(),
                b"Message:p/s/" + b"9" * 30,
            )
        ),
    ],
)
def test_anything_else_reads_as_absent(text: str) -> None:
    assert global_id.message_key(text) is None
    assert global_id.session_key(text) is None
    assert global_id.project_key(text) is None
