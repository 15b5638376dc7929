"""Peers on the same cases: time, memory, width, and whether the answer contains the truth.

Each case runs in a process of its own with limits on time and memory. The peers live in an environment of their own
(PEERS, made with pip install dp-accounting prv-accountant); the truth is the reference vectors. A Markdown table on
standard output, JSON into build/peers.json.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".venv-peers" / "bin" / "python"
SECONDS_MOST, BYTES_MOST = 120, 8 << 30
VECTORS = ROOT / "tests" / "reference" / "vectors.json"
SAMPLED = re.compile(r"Gaussian\(sigma=([\d.]+)\)\.poisson\(rate=([\d.]+)\) \* (\d+)$")
DIGITS = Fraction(1, 10**14)
MARKERS = {"tightrope": "o", "dp-accounting": "s", "prv-accountant": "^"}


def limit() -> None:
    """Inside the new process."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MOST, BYTES_MOST))


def run(tool: str, arguments: list[str]) -> dict[str, object]:
    """One tool on one case, or the reason why it has no answer."""
    python = sys.executable if tool == "tightrope" else str(PEERS)
    command = [python, str(ROOT / "benchmarks" / "peers_case.py"), tool, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_MOST, preexec_fn=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {SECONDS_MOST} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"failed": lines[-1][:80] if lines else f"exit {done.returncode}"}
    found: dict[str, object] = json.loads(done.stdout)
    return found


def verdict(found: dict[str, object], truth: Fraction) -> str:
    """Whether the answer is on the right side of the truth."""
    if "failed" in found:
        return str(found["failed"])
    low, high = float(str(found["lower"])), float(str(found["upper"]))
    if high < float("inf") and Fraction(high) < truth * (1 - DIGITS):
        return "**below the truth**"
    if Fraction(low) > truth * (1 + DIGITS):
        return "**above the truth**"
    return "contains it" if low > 0.0 else "above it"


def main() -> None:
    """The table."""
    if not PEERS.exists():
        sys.exit(
            f"{PEERS} is missing: python3 -m venv .venv-peers, then pip install dp-accounting prv-accountant there"
        )
    results = []
    print("| case | tool | epsilon | width | first answer, s | MB | the truth |")
    print("|---|---|---|---|---|---|---|")
    for vector in json.loads(VECTORS.read_text())["vectors"]:
        match = SAMPLED.match(vector["expression"])
        if match is None:
            continue
        truth = Fraction(vector["epsilon"])
        for tool in MARKERS:
            found = run(tool, [*match.groups(), vector["delta"]])
            results.append({"case": vector["expression"], "delta": vector["delta"], "tool": tool, **found})
            said = verdict(found, truth)
            name = f"({match[1]}, {match[2]}) x {match[3]}, {vector['delta']}"
            if "failed" in found:
                print(f"| {name} | {tool} | - | - | - | - | {said} |", flush=True)
                continue
            low, high = float(str(found["lower"])), float(str(found["upper"]))
            width = f"{high - low:.1e}" if low > 0.0 else "one-sided"
            seconds, megabytes = float(str(found["seconds_first"])), float(str(found["peak_megabytes"]))
            print(f"| {name} | {tool} | {high:.10g} | {width} | {seconds:.3f} | {megabytes:.0f} | {said} |", flush=True)
    (ROOT / "build").mkdir(exist_ok=True)
    (ROOT / "build" / "peers.json").write_text(json.dumps({"results": results}, indent=1) + "\n")
    draw(results, ROOT / "docs" / "figures" / "peers.png")


def draw(results: list[dict[str, object]], path: Path) -> None:
    """Every answer by its time and by how far its upper end lies from the truth."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from tightrope.plot import COLOURS, STYLE

    truths = {
        (item["expression"], item["delta"]): Fraction(item["epsilon"])
        for item in json.loads(VECTORS.read_text())["vectors"]
    }
    with rc_context(STYLE):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set(xscale="log", yscale="log", xlabel="seconds to the first answer, in a new process")
        axes.set_ylabel("distance of the upper end from the truth, relative")
        for (tool, marker), colour in zip(MARKERS.items(), COLOURS, strict=False):
            times, excesses = [], []
            for found in results:
                if found["tool"] != tool or "failed" in found or float(str(found["upper"])) == float("inf"):
                    continue
                truth = truths[found["case"], found["delta"]]
                times.append(float(str(found["seconds_first"])))
                excesses.append(abs(float((Fraction(float(str(found["upper"]))) - truth) / truth)))
            failed = sum(1 for found in results if found["tool"] == tool) - len(times)
            label = f"{tool} ({failed} of {failed + len(times)} without a finite answer)" if failed else tool
            axes.scatter(times, excesses, marker=marker, color=colour, label=label, s=36)
        axes.legend(frameon=False)
        axes.set_title("epsilon of ten DP-SGD runs: time and distance to the truth")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)


if __name__ == "__main__":
    main()
