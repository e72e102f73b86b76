"""Standing between an editor and an agent on stdio: bytes go through at once, and into a spool.

Knows nothing of what is said, and of no database: a process of its own records the spool. What is
loaded before the agent is started comes from the standard library alone.
"""
