"""All tools on all cases, each in a process of its own with limits: python -m benchmarks.peers.run [options].

Results go into benchmarks/peers/results.json after every answer, so that a run that was interrupted goes on where it
was: what has a result is not asked again, unless with --fresh. --only WORD ... asks those whose case or tool is named
so, or begins so with a * at the end; --seconds (of the processor) and --gigabytes are the limits of one process.
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
from .tools.table import TOOLS
from .verdict import said, truths

ROOT = Path(__file__).resolve().parents[2]
PEERS, OLD = (ROOT / name / "bin" / "python" for name in (".venv-peers", ".venv-peers-autodp"))
SECONDS_MOST, GIGABYTES_MOST = 120.0, 8.0
WAITS = 6.0  # seconds of the processor are limited; a machine with other work is waited for this much longer
VERSIONS = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"


def ask(tool: str, case: str, seconds: float, gigabytes: float) -> dict[str, object]:
    """One tool on one case, or the reason why it has no answer."""
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
    parser.add_argument("--only", nargs="+", default=["*"], metavar="WORD")
    parser.add_argument("--seconds", type=float, default=SECONDS_MOST)
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES_MOST)
    options = parser.parse_args()
    if not PEERS.exists() or not OLD.exists():
        sys.exit(f"{PEERS} or {OLD} is missing: make bench-peers makes both")
    old = json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else []
    found = {(row["case"], row["tool"]): row for row in old}
    document = {"about": about(options.seconds, options.gigabytes)}
    known, began = truths(), time.perf_counter()
    wanted = [(case, tool) for case in cases() for tool in TOOLS]
    for case, tool in wanted:
        named = any(fnmatch(name, word) for word in options.only for name in (case, tool))
        if not named or ((case, tool) in found and not options.fresh):
            continue
        found[case, tool] = {"case": case, "tool": tool, **ask(tool, case, options.seconds, options.gigabytes)}
        verdict = said(found[case, tool], known[case]) if case in known else "no truth yet"
        print(f"{time.perf_counter() - began:7.1f} s  {case}  {tool}: {verdict}", flush=True)
        rows = [json.dumps(found[key]) for key in wanted if key in found]
        text = json.dumps(document)[:-1] + ', "results": [\n ' + ",\n ".join(rows) + "\n]}\n"
        part = RESULTS.with_suffix(".part")
        part.write_text(text)
        part.replace(RESULTS)


if __name__ == "__main__":
    main()
