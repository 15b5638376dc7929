"""All tools on all cases, each in a process of its own with limits: python -m benchmarks.peers.run [options].

Answers go into build/peers.json as they come, so that a run that was interrupted goes on where it was (--fresh: from
the start), and into benchmarks/peers/results.json when all are there. --only WORD ... asks those again whose case or
tool matches one of the words (sgd-*), --missing those that results.json lacks: both write there at once.
--seconds (of the processor) and --gigabytes are the limits of one process.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path

from .case import RESULTS, cases
from .tools.answer import NotCoveredError
from .tools.table import TOOLS
from .verdict import said, truths

ROOT = Path(__file__).resolve().parents[2]
PEERS, OLD = (ROOT / name / "bin" / "python" for name in (".venv-peers", ".venv-peers-autodp"))
JOURNAL = ROOT / "build" / "peers.json"
SECONDS_MAX, GIGABYTES_MAX = 120.0, 8.0
WAITS = 6.0  # seconds of the processor are limited; a machine with other work is waited for this much longer
SLOW_CASES = ("allocation-1000-epochs-10", "distinct-100", "gaussian-tiny-noise", "sgd-tiny-noise")
SLOW_TOOLS = {"dp-accounting-fine": 1, "autodp-afa": 2}
VERSIONS = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"


def ask(tool: str, case: str, seconds: float, gigabytes: float) -> dict[str, object]:
    """One tool on one case, or the reason why it has no answer."""
    try:
        TOOLS[tool].covers(cases()[case])
    except NotCoveredError as error:
        return {"not_covered": str(error)}
    python = {"tightrope": sys.executable, "autodp": str(OLD)}.get(TOOLS[tool].package, str(PEERS))
    size = int(gigabytes * 2**30)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))

    command = [python, "-m", "benchmarks.peers.one", tool, case, "--json"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=WAITS * seconds, preexec_fn=limit, check=False, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {seconds:g} s"}
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"failed": f"over {seconds:g} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        memory = "Memory" in done.stderr or done.returncode < 0
        reason = "out of memory" if memory else lines[-1][:120] if lines else f"exit {done.returncode}"
        return {"failed": reason}
    found: dict[str, object] = json.loads(done.stdout)
    if found.get("failed") == "out of memory":
        return {"failed": f"over {gigabytes:g} GB"}
    return found


def about(seconds: float, gigabytes: float) -> dict[str, object]:
    """Where and with what."""
    names = sorted({tool.package for tool in TOOLS.values()} - {"tightrope", "autodp"} | {"numpy", "scipy"})
    peers, old = (
        json.loads(subprocess.run([str(python), "-c", VERSIONS, *each], capture_output=True, check=True).stdout)
        for python, each in ((PEERS, names), (OLD, ["autodp", "scipy"]))
    )
    import tightrope

    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "command": "make bench-peers",
        "machine": model[0].split(":")[1].strip() if model else platform.machine(),
        "cores": os.cpu_count(),
        "load_at_start": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "versions": {
            "tightrope": tightrope.__version__,
            **peers,
            "autodp": f"{old['autodp']} (scipy {old['scipy']})",
        },
        "limits": {"seconds": seconds, "gigabytes": gigabytes},
    }


def main() -> None:
    """Progress on standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD")
    parser.add_argument("--seconds", type=float, default=SECONDS_MAX)
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES_MAX)
    options = parser.parse_args()
    if not PEERS.exists() or not OLD.exists():
        sys.exit(f"{PEERS} or {OLD} is missing: make bench-peers makes both")
    whole = not (options.missing or options.only)
    path = JOURNAL if whole else RESULTS
    if whole and options.fresh:
        JOURNAL.unlink(missing_ok=True)
    found = recorded(path)
    document = {"about": about(options.seconds, options.gigabytes) | ({"before": before(path)} if found else {})}
    known, began = truths(), time.perf_counter()
    wanted = [(case, tool) for case in cases() for tool in TOOLS]
    for case, tool in sorted(wanted, key=lambda each: slow(*each)):
        named = not options.only or any(fnmatch(name, word) for word in options.only for name in (case, tool))
        if not named or ((whole or options.missing) and (case, tool) in found):
            continue
        found[case, tool] = {"case": case, "tool": tool, **ask(tool, case, options.seconds, options.gigabytes)}
        verdict = said(found[case, tool], known[case]) if case in known else "no truth yet"
        print(f"{time.perf_counter() - began:7.1f} s  {case}  {tool}: {verdict}", flush=True)
        rows = [json.dumps(found[key]) for key in wanted if key in found]
        write(path, json.dumps(document)[:-1] + ', "results": [\n ' + ",\n ".join(rows) + "\n]}\n")
    if whole:
        write(RESULTS, JOURNAL.read_text())
        JOURNAL.unlink()


def before(path: Path) -> list[list[str]]:
    """The days and machines of the runs whose answers this one takes over, the last one first."""
    known = json.loads(path.read_text())["about"]
    runs = [[known["date"], known["machine"]], *known.get("before", [])]
    return [run for place, run in enumerate(runs) if run not in runs[:place]]


def slow(case: str, tool: str) -> int:
    """What may run to the limits comes last, so that a run that is cut short has the most."""
    return 2 if case in SLOW_CASES else SLOW_TOOLS.get(tool, 0)


def recorded(path: Path) -> dict[tuple[str, str], dict[str, object]]:
    """What was answered so far, by case and tool."""
    rows = json.loads(path.read_text())["results"] if path.exists() else []
    return {(row["case"], row["tool"]): row for row in rows}


def write(path: Path, text: str) -> None:
    """All of it or nothing."""
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


if __name__ == "__main__":
    main()
