"""A picture and a sound, as whole files made by code, small enough to read in a query's answer."""

import io
import math
import struct
import wave
import zlib

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
SAMPLE_RATE = 8_000


def png(width: int = 96, height: int = 48) -> bytes:
    """Return a PNG of a sunset: 8-bit RGB, one gradient from the top to the bottom."""
    rows = b"".join(b"\0" + _pixel(y / (height - 1)) * width for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return PNG_SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def _pixel(depth: float) -> bytes:
    top, bottom = (24, 28, 92), (255, 148, 64)
    return bytes(round(a + (b - a) * depth) for a, b in zip(top, bottom, strict=True))


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)


def wav(seconds: float = 0.1, frequency: float = 440.0) -> bytes:
    """Return a WAV of one tone: 8-bit mono at 8 kHz."""
    count = round(seconds * SAMPLE_RATE)
    turns = (frequency * n / SAMPLE_RATE for n in range(count))
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(SAMPLE_RATE)
        sound.writeframes(bytes(128 + round(100 * math.sin(math.tau * turn)) for turn in turns))
    return file.getvalue()
