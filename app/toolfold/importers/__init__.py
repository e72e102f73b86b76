"""Importers: one module per transcript format, file to transcript values and nothing else."""
