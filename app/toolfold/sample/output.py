"""What tools print, of any size: file listings, search results, logs in colour."""

import random
from collections.abc import Callable, Iterator

WORDS = (
    "station", "forecast", "humidity", "pressure", "wind", "sensor", "archive", "report",
    "threshold", "gauge", "radar", "season", "sunrise", "isobar", "Föhn", "気温", "cirrus",
)  # fmt: skip
FOLDERS = ("weather", "weather/feeds", "weather/charts", "tests", "scripts")
LEVELS = ("\x1b[32mINFO\x1b[0m ", "\x1b[33mWARN\x1b[0m ", "\x1b[31mERROR\x1b[0m")
RESULT_BYTES = (6.09, 1.90)
"""Mean and deviation of the logarithm of a result's bytes, measured on real sessions."""
LARGEST_RESULT_BYTES = 1_000_000

Line = Callable[[random.Random, int], str]


def result_size(rng: random.Random) -> int:
    """Draw the bytes of one result: half are under 450, one in a hundred over 35,000."""
    return min(LARGEST_RESULT_BYTES, max(1, round(rng.lognormvariate(*RESULT_BYTES))))


def path(rng: random.Random) -> str:
    """Draw the path of a source file."""
    name = rng.choice([word for word in WORDS if word.isascii()])
    return f"/home/sam/weather/{rng.choice(FOLDERS)}/{name}.py"


def phrase(rng: random.Random, words: int = 4) -> str:
    """Draw a few words of the sample's subject, not all of them ASCII."""
    return " ".join(rng.choice(WORDS) for _ in range(words))


def log_line(rng: random.Random, number: int) -> str:
    """Return a line of a log, its level coloured by an ANSI sequence."""
    clock = f"{9 + number // 3600 % 12:02}:{number // 60 % 60:02}:{number % 60:02}"
    return f"{clock} {rng.choice(LEVELS)} {phrase(rng, 5)} took={rng.randrange(2_000)}ms"


def source_line(rng: random.Random, number: int) -> str:
    """Return a line of a file as a Read tool shows it, with its number."""
    name = rng.choice(WORDS[:12])
    return f"{number:>6}\t    {name}_{number} = {rng.choice(WORDS[:12])}({rng.randrange(100)})"


def search_line(rng: random.Random, number: int) -> str:
    """Return one hit of a search: path, line, text."""
    return f"{path(rng)}:{number * 7}: {phrase(rng)}"


def text(rng: random.Random, size: int, line: Line) -> str:
    """Return text of exactly `size` UTF-8 bytes, made of `line`s."""
    taken = b"".join(_lines(rng, size, line))[:size]
    whole = taken.decode("utf-8", errors="ignore")
    return whole + "." * (size - len(whole.encode("utf-8")))


def _lines(rng: random.Random, size: int, line: Line) -> Iterator[bytes]:
    number = 0
    while size > 0:
        number += 1
        raw = line(rng, number).encode("utf-8") + b"\n"
        size -= len(raw)
        yield raw
