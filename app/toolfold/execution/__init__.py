"""An executor that completes plain objects by functions generated for what is selected of them.

graphql-core spends about 5 µs on each field of each row: a path, an info object, a resolver's
call, a completion. For rows whose fields are known beforehand all of that can be decided once,
when a selection is met, and written down as Python. What is not regular is left to graphql-core,
so that errors, their paths and nulls stay its own. docs/execution.md tells how it works.

Knows graphql-core and Strawberry, and nothing of what a schema is about. A schema declares its
fields in the words of `plain` and executes with `executor.CompilingExecutor`.
"""
