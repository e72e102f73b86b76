"""Importers: one module per transcript format, file to transcript values and nothing else.

A format is a module with `NAME`, `accepts`, `parse` and, if it reads files beside the
transcript, `companions` and `owns`; its entry in `registry.IMPORTERS` is all that makes it known.
"""

from toolfold.importers.detection import Detection, detect, detect_by_place
from toolfold.importers.importer import Importer, Transcript
from toolfold.importers.registry import IMPORTERS, importer_of

__all__ = [
    "IMPORTERS",
    "Detection",
    "Importer",
    "Transcript",
    "detect",
    "detect_by_place",
    "importer_of",
]
