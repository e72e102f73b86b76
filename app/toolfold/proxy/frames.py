"""A spool file: one line of JSON about the run, then what went through, as it went, in frames.

A frame is a direction, the time in nanoseconds since 1970, a count of bytes, and these bytes. A
message may be spread over frames, and the two directions alternate as they did. A frame that was
cut off ends the file: whoever was writing it was killed.
"""

import json
import struct
import time
from dataclasses import dataclass
from typing import BinaryIO

TO_AGENT = b">"
FROM_AGENT = b"<"
LOST = b"!"
"""The direction of a frame whose bytes are the number of bytes that are lacking here, in digits."""

VERSION = 1
_HEAD = struct.Struct(">cQI")


@dataclass(frozen=True, slots=True)
class Run:
    """What a spool says of itself: the project that it is for, and the agent's command."""

    project: str
    agent: str


@dataclass(frozen=True, slots=True)
class Frame:
    """What went one way at one time."""

    direction: bytes
    nanoseconds: int
    data: bytes


def first_line(run: Run) -> bytes:
    """Return the line that begins a spool."""
    said = {"toolfoldAcp": VERSION, "project": run.project, "agent": run.agent}
    return json.dumps(said).encode() + b"\n"


def frame(direction: bytes, data: bytes) -> bytes:
    """Return a frame of now, as it is written."""
    return _HEAD.pack(direction, time.time_ns(), len(data)) + data


def read_run(file: BinaryIO) -> Run:
    """Read the line that begins a spool.

    Raises:
        ValueError: if it is no spool of this version.
    """
    said = json.loads(file.readline())
    if said.get("toolfoldAcp") != VERSION:
        raise ValueError("not a spool of this version")
    return Run(str(said["project"]), str(said["agent"]))


def read_frame(file: BinaryIO) -> Frame | None:
    """Read the next frame if all of it is there; else None, and the file is where it was."""
    start = file.tell()
    head = file.read(_HEAD.size)
    if len(head) == _HEAD.size:
        direction, nanoseconds, count = _HEAD.unpack(head)
        data = file.read(count)
        if len(data) == count:
            return Frame(direction, nanoseconds, data)
    file.seek(start)
    return None
