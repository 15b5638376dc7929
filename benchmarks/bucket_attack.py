"""26,501 random plans for bucket lists against all outcomes in exact fractions, one JSON line for each that is wrong.

The plans and the truth are those of tests/engines/buckets/attack.py, of which the tests run a few hundred.
Exits with 1 where a bound lies on the wrong side. Usage: bucket_attack.py [PLANS [SEED [FIRST]]].
"""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import asdict

from tests.engines.buckets.attack import attack

PLANS, SEED = 26_501, 2018


def main(plans: int = PLANS, seed: int = SEED, first: int = 0) -> int:
    """Prints what is wrong, and how many plans were refused."""
    began, wrong, refused = time.process_time(), 0, 0
    for index in range(first, first + plans):
        found = attack(random.Random(f"{seed} {index}"))
        refused += found is None
        wrong += bool(found)
        for each in found or []:
            print(json.dumps({"plan": index, **asdict(each)}), flush=True)
    seconds = time.process_time() - began
    print(json.dumps({"schema": 1, "plans": plans, "refused": refused, "wrong": wrong, "seconds": seconds}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
