"""Random runs on the user's own machine, each answered and then judged by others, who share as little as can be.

The modules in their order: cases (a run and a question, from a seed and a number), judges (balls; enumeration in exact
fractions; the checker), run (one after the other, as long as told), report (what came of it).
"""

from .run import selftest as selftest
