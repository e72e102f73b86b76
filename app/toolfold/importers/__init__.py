"""Importers: one module per transcript format, file to transcript values and nothing else.

A format is a module with `NAME`, `accepts`, `parse` and, if it reads files beside the
transcript, `companions`; its entry in `IMPORTERS` is all that makes it known.
"""

from toolfold.importers.importer import Importer, Transcript

IMPORTERS: tuple[Importer, ...] = ()
"""Every format that can be imported."""

__all__ = ["IMPORTERS", "Importer", "Transcript"]
