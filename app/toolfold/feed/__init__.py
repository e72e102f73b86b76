"""What followers are told.

`session`: all that the store has of one session after a place in it, then what happens.
`session_list`: which sessions change. The store is the queue: a follower is woken by `events`,
reads (with others who would read the same: `shared`) and holds no more than where it stands.
"""
