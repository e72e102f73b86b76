"""The commands. Each reads its arguments, runs what is below it, and tells the result."""
