"""One tool on one case, in this process: python -m benchmarks.peers.one TOOL CASE [--json].

What it says, what it claims, and where the truth lies; run.py calls it with --json and sets the limits.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time

from .case import Case, cases
from .tools.answer import Answer, NotCoveredError
from .tools.table import TOOLS

ENOUGH, MOST = 1.0, 3  # seconds after which an answer is not asked again, and how often it is at most


def measured(name: str, case: Case) -> dict[str, object]:
    """The first answer is timed with everything it loads, as most users ask once; processor and wall seconds."""
    try:
        TOOLS[name].covers(case)
    except NotCoveredError as error:
        return {"not_covered": str(error)}
    wall, processor, times = time.perf_counter(), time.process_time(), list[float]()
    answer = Answer()
    try:
        while len(times) < MOST and sum(times) < ENOUGH:
            began = time.process_time()
            answer = TOOLS[name].ask(case)
            times.append(time.process_time() - began)
            if len(times) == 1:
                first = {"seconds_first": times[0], "wall_first": time.perf_counter() - wall}
    except MemoryError:
        return {"failed": "out of memory"}
    except Exception as error:  # whatever a library raises is its answer
        return {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:120]}
    found: dict[str, object] = {key: written(value) for key, value in answer._asdict().items() if value is not None}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = processor  # what Python itself took to come this far
    return {**found, **first, "seconds": min(times), "seconds_start": start, "peak_megabytes": round(peak)}


def written(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def main() -> None:
    """For people, or as JSON."""
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    known = cases()
    if len(names) != 2 or names[0] not in TOOLS or names[1] not in known:
        sys.exit(f"{__doc__}\ntools: {', '.join(TOOLS)}\ncases: {', '.join(known)}")
    tool, case = TOOLS[names[0]], known[names[1]]
    found = measured(tool.name, case)
    if "--json" in sys.argv[1:]:
        json.dump(found, sys.stdout)
        return
    from .verdict import said, truths

    truth = truths()[case.name]
    print(f"{case.expression}: {case.question}, {case.title.split('`, ')[1]}")
    print(f"{tool.name} ({tool.setting}), which claims: {tool.claim}")
    print("\n".join(f"  {key}: {value}" for key, value in found.items()))
    print(f"truth: [{truth.lower_text}, {truth.upper_text}] ({truth.how})\n{said(found, truth)}")


if __name__ == "__main__":
    main()
