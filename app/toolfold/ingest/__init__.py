"""Ingest: the one way in, from transcript values to rows.

- `gathering` and what it uses (`columns`, `preparation`, `identity`, `batch`): entries become a
  batch, which takes no database.
- `writing` and what it uses (`messages`, `retelling`, `sessions`, `family`): a batch is compared
  with what is stored, and what is new is written in one transaction.
"""

from toolfold.ingest.writing import Counts, record

__all__ = ["Counts", "record"]
