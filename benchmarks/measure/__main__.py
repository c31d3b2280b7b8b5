"""The command `python -m benchmarks.measure`.

A module of this name is not imported again by each worker process, which would cost a worker 0.15 s.
"""

from benchmarks.measure import main

main()
