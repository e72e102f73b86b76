"""The sample session: made by code, the same at every run, and shaped as real sessions are.

It lets a newcomer try every query without a transcript of their own, and tests and measurements
start from it. It knows transcript values and nothing else; `toolfold sample` ingests it.
"""

from toolfold.sample.session import CHILD_SESSION, FORMAT, SESSION, entries

__all__ = ["CHILD_SESSION", "FORMAT", "SESSION", "entries"]
