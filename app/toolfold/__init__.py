"""Toolfold: a self-hosted GraphQL server for the chat history of coding agents."""
