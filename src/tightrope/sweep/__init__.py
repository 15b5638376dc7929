"""One question for many configurations: a grid in, a table out, from one process to a cluster.

run.py -> plan.py (what is asked: recipe.py makes the mechanism, query.py the question, grid.py the configurations)
-> an executor (executor.py: here; local.py: processes) -> rows (table.py), kept in a journal (journal.py) where a file
is written (writers.py); definition.py reads the file that describes a sweep.
"""

from .run import sweep as sweep
from .table import Sweep as Sweep
from .table import SweepRow as SweepRow
