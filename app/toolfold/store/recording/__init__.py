"""Recording: every statement that ingest writes with, one module for each kind of row.

Synchronous Core code over a connection in a write transaction. Nothing here decides what is to be
written; `toolfold.ingest` does.
"""
