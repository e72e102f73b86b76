"""Storage: every table and every statement, for SQLite and PostgreSQL."""
