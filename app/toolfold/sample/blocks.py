"""The blocks of tool content in ACP's form, one function for each kind."""

import base64

from toolfold.sample import media
from toolfold.transcript import Json


def text(value: str) -> Json:
    """Return a text block."""
    return _content({"type": "text", "text": value})


def diff(path: str, old_text: str | None, new_text: str) -> Json:
    """Return a diff block; `old_text` None says that the file is new."""
    return {"type": "diff", "path": path, "oldText": old_text, "newText": new_text}


def terminal(terminal_id: str, command: str, output: str, exit_code: int) -> Json:
    """Return a terminal block that carries its command, its output and how it ended."""
    return {
        "type": "terminal",
        "terminalId": terminal_id,
        "command": command,
        "output": output,
        "exitCode": exit_code,
    }


def image(data: bytes) -> Json:
    """Return an image block of a PNG."""
    return _content({"type": "image", "mimeType": "image/png", "data": _base64(data)})


def audio(data: bytes) -> Json:
    """Return an audio block of a WAV."""
    return _content({"type": "audio", "mimeType": "audio/wav", "data": _base64(data)})


def resource_link() -> Json:
    """Return a link to a resource that is not part of the session."""
    return _content(
        {
            "type": "resource_link",
            "uri": "https://example.com/stations/0042.csv",
            "name": "0042.csv",
            "title": "Station 42, daily means",
            "description": "Temperature and pressure since 1901",
            "mimeType": "text/csv",
            "size": 48_211,
        }
    )


def resource() -> Json:
    """Return a resource embedded with its text."""
    return _content(
        {
            "type": "resource",
            "resource": {
                "uri": "file:///home/sam/weather/stations.csv",
                "mimeType": "text/csv",
                "text": "id,name,celsius\n42,Zürich,7.5\n43,Tromsø,-3.1\n",
            },
        }
    )


def unknown() -> Json:
    """Return a block of a type that no version of ACP knows."""
    return {"type": "hologram", "frames": [1, 2, None], "caption": "wind field, 3-D"}


def every_kind() -> list[Json]:
    """Return one block of each kind, in the order of the schema's union."""
    return [
        text("Sunset at Tromsø: \N{SUNRISE OVER MOUNTAINS} 14:02"),
        diff("/home/sam/weather/README.md", "# weather\n", "# Weather\n\nOne page a day.\n"),
        terminal("term_sample", "make chart", "\x1b[1mchart\x1b[0m \x1b[32mdone\x1b[0m\n", 0),
        image(media.png()),
        audio(media.wav()),
        resource_link(),
        resource(),
        unknown(),
    ]


def _content(block: Json) -> Json:
    return {"type": "content", "content": block}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
