"""The revisions, in the order of their names; each runs on both databases."""
