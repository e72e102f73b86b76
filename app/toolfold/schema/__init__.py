"""The GraphQL schema: one module per concept, and the guard that all of them obey."""
