"""Times that can be compared: taken in turn, in one run."""

import statistics
import time
from collections.abc import Callable

Call = Callable[[], object]

_WARM_UP = 3


def medians(rounds: int, *calls: Call) -> list[float]:
    """Return the median seconds of each call.

    A round makes every call once, every second round in the opposite order, so that what else
    the machine does falls on all alike.
    """
    for call in calls * _WARM_UP:
        call()
    seconds: list[list[float]] = [[] for _ in calls]
    for number in range(rounds):
        pairs = list(zip(calls, seconds, strict=True))
        for call, taken in pairs if number % 2 else reversed(pairs):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in seconds]
