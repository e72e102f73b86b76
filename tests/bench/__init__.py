"""Speed, memory and size, measured side by side in one run: `make bench`.

Not a part of the tests: no time is a reason to fail. `python -m tests.bench --help` tells the
options. Each group of figures is a module with a `NAME` and a function `measure`.
"""
