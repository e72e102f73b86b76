"""What the server promises when it is killed, crowded, left waiting or out of disk.

One module per promise, each over real processes and on either database. A test of each runs with
small numbers in the suite; `python -m tests.reliability` runs them at full size and prints a table.
Times are told there, and asserted nowhere.

- `processes`: servers that are killed and started again, and what is left in their database.
- `writers`: clients that write, send again what was not acknowledged, and know what was.
- `stored`: what a server has stored, as it shows it.
- `killing`, `contention`, `subscribers`, `slow_reader`, `vanishing`, `full_disk`: the promises.
"""
