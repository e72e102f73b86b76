"""Alembic's environment: runs the revisions on the connection that `upgrade` gives.

It knows no metadata, so that a revision does the same for ever, whatever the tables become.
"""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    render_as_batch=True,
    # The caller's transaction holds all of it: an upgrade that fails leaves nothing behind.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
