"""What the server promises when it is killed, crowded, left waiting or out of disk.

One module per promise, each over real processes and on either database. A test of each runs with
small numbers in the suite; `python -m tests.reliability` runs them at full size and prints a table.
Times are told there, and asserted nowhere.

- `killing`, `contention`, `subscribers`, `slow_reader`, `vanishing`, `full_disk`: the promises.
- `outcome`: the figures and the faults of a run.
- `processes`: servers that are killed and started again; commands on their database.
- `requests`, `following`: what clients ask and are told; `writers`: those that send again whatever
  was not acknowledged.
- `small_disk`: a disk that can be filled.
"""
