"""Random runs on the user's own machine, each answered and then judged by three who share as little as can be.

cases.py (a run and a question, from a seed and a number) -> judges.py (balls; enumeration.py in fractions; the checker)
-> run.py (one after the other, as long as told) -> report.py (what came of it).
"""

from .run import selftest as selftest
